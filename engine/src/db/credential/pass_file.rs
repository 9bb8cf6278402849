//! PostgreSQL's password file: `host:port:database:user:password`, the first matching line.
//!
//! In: its text, and a server. Out: the password for it. Called by `credential`. The database field
//! is ignored: a role has one password, and the load's databases are created for it.

use super::Login;
use crate::db::postgres::USUAL_PORT;
use crate::db::server::{Secret, Server};

pub fn matching(text: &str, server: &Server) -> Login {
    let port = server.port.unwrap_or(USUAL_PORT).to_string();
    let folder = server.socket.as_ref().and_then(|socket| socket.parent());
    let folder = folder.map(|path| path.display().to_string());
    let hosts = [Some(server.host()), folder.as_deref()];
    let fits = |pattern: &str, value: &str| pattern == "*" || pattern == value;
    let password = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(fields)
        .find(|[host, at, _, user, _]| {
            hosts.iter().flatten().any(|value| fits(host, value))
                && fits(at, &port)
                && fits(user, &server.user)
        })
        .map(|[.., password]| Secret::new(password));
    Login {
        user: None,
        password,
    }
}

/// The five fields of a line. `\:` and `\\` stand for a character. A password may contain more
/// colons.
fn fields(line: &str) -> Option<[String; 5]> {
    let mut fields: [String; 5] = Default::default();
    let mut field = 0;
    let mut letters = line.trim_end_matches('\r').chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => fields[field].extend(letters.next()),
            ':' if field < 4 => field += 1,
            _ => fields[field].push(letter),
        }
    }
    (field == 4).then_some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(text: &str, server: &str) -> Option<Secret> {
        matching(text, &serde_json::from_str(server).unwrap()).password
    }

    const DB1: &str = r#"{"host": "db1", "port": 5433, "user": "bench", "database": "x"}"#;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        for (text, meant) in [
            ("db1:5433:*:bench:secret", Some("secret")),
            ("*:*:*:*:any", Some("any")),
            (
                "# db1:5433:*:bench:no\ndb2:*:*:*:no\ndb1:*:other:bench:first\n*:*:*:*:second",
                Some("first"),
            ),
            (r"db1:5433:*:bench:a\:b\\c:d", Some(r"a:b\c:d")),
            ("db1:5432:*:bench:no", None),
            ("db1:5433:*:other:no", None),
            ("db1:5433:bench:no", None),
            ("", None),
        ] {
            assert_eq!(password(text, DB1), meant.map(Secret::new), "{text}");
        }
    }

    #[test]
    fn a_socket_is_localhost_or_its_folder_and_the_port_is_the_usual_one() {
        let server = r#"{"socket": "/run/pg/.s.PGSQL.5432", "user": "u", "database": "x"}"#;
        for host in ["localhost", "/run/pg"] {
            let text = format!("{host}:5432:*:u:secret");
            assert_eq!(password(&text, server), Some(Secret::new("secret")));
        }
        assert_eq!(password("/run:5432:*:u:no", server), None);
        let slash = r#"{"host": "::1", "user": "u", "database": "x"}"#;
        assert_eq!(
            password(r"\:\:1:*:*:u:six", slash),
            Some(Secret::new("six"))
        );
    }
}
