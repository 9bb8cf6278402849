//! MySQL's option files: user and password of the group `[client]`.
//!
//! In: the text of a file. Out: the login that a client of MySQL would use. Called by `credential`.
//! `!include` is not followed.

use super::Login;
use crate::db::server::Secret;

const GROUPS: [&str; 3] = ["client", "client-server", "client-mariadb"];

pub fn client(text: &str) -> Login {
    let mut login = Login::default();
    let mut is_ours = false;
    for line in text.lines().map(str::trim) {
        if let Some(group) = line
            .strip_prefix('[')
            .and_then(|text_after| text_after.split_once(']'))
            .map(|(group, _)| group)
        {
            is_ours = GROUPS.contains(&group.trim());
        }
        let Some((name, text_after)) = line.split_once('=') else {
            continue;
        };
        if !is_ours || line.starts_with(['#', ';', '!']) {
            continue;
        }
        match name.trim() {
            "user" => login.user = Some(value(text_after)),
            "password" => login.password = Some(Secret::new(value(text_after))),
            _ => {}
        }
    }
    login
}

/// A value without its quotes, or up to a comment; with its escapes replaced.
fn value(text: &str) -> String {
    let text = text.trim();
    let quote = text.chars().next().filter(|first| "'\"".contains(*first));
    let inside = match quote {
        Some(quote) => {
            let inside = &text[1..];
            &inside[..end_of(inside, quote).unwrap_or(inside.len())]
        }
        None => text[..end_of(text, '#').unwrap_or(text.len())].trim_end(),
    };
    unescaped(inside)
}

/// The position of the first `end` without a backslash before it.
fn end_of(text: &str, end: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices()
        .find(|&(_, letter)| {
            let is_end = letter == end && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            is_end
        })
        .map(|(index, _)| index)
}

/// Replaces escapes; a backslash before any other character stays a backslash.
fn unescaped(text: &str) -> String {
    let mut unescaped = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let replacement = match (letter, letters.peek()) {
            ('\\', Some('b')) => '\u{8}',
            ('\\', Some('t')) => '\t',
            ('\\', Some('n')) => '\n',
            ('\\', Some('r')) => '\r',
            ('\\', Some('s')) => ' ',
            ('\\', Some(&quoted @ ('\\' | '"' | '\''))) => quoted,
            _ => {
                unescaped.push(letter);
                continue;
            }
        };
        letters.next();
        unescaped.push(replacement);
    }
    unescaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_the_clients_groups_counts_and_no_others() {
        let text = "user = nobody\n[mysqld]\npassword=server\n[client]\n# user = no\nuser=a\n\n\
                    [mysqldump]\npassword = other\n[client-mariadb]\n user = bench \npassword = p\n!include x=y\n";
        let login = client(text);
        assert_eq!(login.user.as_deref(), Some("bench"));
        assert_eq!(login.password, Some(Secret::new("p")));
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
            let login = client(&format!("[client]\npassword = {written}\n"));
            assert_eq!(login.password, Some(Secret::new(meant)), "{written}");
        }
    }
}
