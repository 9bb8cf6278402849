"""MariaDB, MySQL and Percona Server."""
