//! MySQL's option files: user and password of the group `[client]`.
//!
//! In: the text of one. Out: what a client of MySQL would take from it. Called by `credential`.
//! `!include` is not followed.

use super::Login;
use crate::db::server::Secret;

const GROUPS: [&str; 3] = ["client", "client-server", "client-mariadb"];

pub fn client(text: &str) -> Login {
    let mut found = Login::default();
    let mut is_ours = false;
    for line in text.lines().map(str::trim) {
        if let Some(group) = line
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
            .map(|(group, _)| group)
        {
            is_ours = GROUPS.contains(&group.trim());
        }
        let Some((name, rest)) = line.split_once('=') else {
            continue;
        };
        if !is_ours || line.starts_with(['#', ';', '!']) {
            continue;
        }
        match name.trim() {
            "user" => found.user = Some(value(rest)),
            "password" => found.password = Some(Secret::new(value(rest))),
            _ => {}
        }
    }
    found
}

/// A value without its quotes, or up to a comment; with its escapes replaced.
fn value(rest: &str) -> String {
    let rest = rest.trim();
    let quote = rest.chars().next().filter(|first| "'\"".contains(*first));
    let inside = match quote {
        Some(quote) => {
            let inside = &rest[1..];
            &inside[..end_of(inside, quote).unwrap_or(inside.len())]
        }
        None => rest[..end_of(rest, '#').unwrap_or(rest.len())].trim_end(),
    };
    unescaped(inside)
}

/// Where the first such letter is that no backslash stands before.
fn end_of(text: &str, end: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices()
        .find(|&(_, letter)| {
            let is_end = letter == end && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            is_end
        })
        .map(|(place, _)| place)
}

/// A backslash that stands before none of the letters it can stand before is one.
fn unescaped(text: &str) -> String {
    let mut found = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let meant = match (letter, letters.peek()) {
            ('\\', Some('b')) => '\u{8}',
            ('\\', Some('t')) => '\t',
            ('\\', Some('n')) => '\n',
            ('\\', Some('r')) => '\r',
            ('\\', Some('s')) => ' ',
            ('\\', Some(&quoted @ ('\\' | '"' | '\''))) => quoted,
            _ => {
                found.push(letter);
                continue;
            }
        };
        letters.next();
        found.push(meant);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_the_clients_groups_counts_and_no_others() {
        let text = "user = nobody\n[mysqld]\npassword=server\n[client]\n# user = no\nuser=a\n\n\
                    [mysqldump]\npassword = other\n[client-mariadb]\n user = bench \npassword = p\n!include x=y\n";
        let found = client(text);
        assert_eq!(found.user.as_deref(), Some("bench"));
        assert_eq!(found.password, Some(Secret::new("p")));
        assert_eq!(client("[mysqld]\nuser = mysql\n"), Login::default());
    }

    #[test]
    fn values_are_read_with_quotes_escapes_and_comments() {
        for (written, meant) in [
            ("plain", "plain"),
            ("plain # a comment", "plain"),
            ("\"with # and ; inside\" # a comment", "with # and ; inside"),
            ("'it\"s'", "it\"s"),
            ("'a\\'b'", "a'b"),
            ("\"never ended", "never ended"),
            ("a\\sb\\\\c\\d", "a b\\c\\d"),
            ("a=b", "a=b"),
            ("", ""),
        ] {
            let found = client(&format!("[client]\npassword = {written}\n"));
            assert_eq!(found.password, Some(Secret::new(meant)), "{written}");
        }
    }
}
