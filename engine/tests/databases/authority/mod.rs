//! A certificate authority for one test, and a server's certificate signed by it.
//!
//! In: a folder. Out: `ca.pem`, `server.pem` (for localhost, not for 127.0.0.1) and `server.key` in
//! it.

use std::path::Path;
use std::process::Command;

pub fn certify(folder: &Path) {
    std::fs::write(
        folder.join("names"),
        "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n",
    )
    .unwrap();
    for arguments in [
        "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority",
        "req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost",
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 2 -extfile names",
    ] {
        let made = Command::new("openssl")
            .args(arguments.split(' '))
            .current_dir(folder)
            .output()
            .expect("openssl cannot be started");
        assert!(
            made.status.success(),
            "openssl {arguments}: {}",
            String::from_utf8_lossy(&made.stderr)
        );
    }
}
