"""Removal of passwords in every notation; all other text is unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paribus.parsers.redact import redact

SECRETS = """
sysbench --mysql-password=geh3im run
sysbench --mysql-password='geh3im' --threads=8 run
sysbench --pgsql-password="geh3im" run
sysbench --mysql-password geh3im run
[root@db1 ~]# sysbench fileio --mysql-password=ge,h3im;geh3im run
mysql --password geh3im -e x
mysql --password=geh3im -e x
mysql -uroot -pgeh3im test
/usr/bin/mysqladmin -p"geh3im" status
mariadb -u root -p'geh3im' test
PGPASSWORD=geh3im pgbench -p 5432
export MYSQL_PWD=geh3im
set PGPASSWORD 'x'; PGPASSWORD=geh3im
MYSQL_ROOT_PASSWORD: geh3im
mysql://u:geh3im@h/db
postgres://u:a@geh3im@h:5432/db
postgresql://u:geh3im@[::1]/db
jdbc:mysql://h/db?user=x&password=geh3im&useSSL=no
root:geh3im@tcp(127.0.0.1:3306)/db
root:geh3im@unix(/run/s)/db
CREATE USER 'x'@'%' IDENTIFIED BY 'geh3im';
GRANT ALL ON *.* TO x IDENTIFIED BY PASSWORD 'geh3im'
alter user x identified with mysql_native_password by 'geh3im'
ALTER USER x IDENTIFIED WITH sha256_password AS 'geh3im'
SET PASSWORD FOR x = PASSWORD('geh3im')
ALTER ROLE x WITH ENCRYPTED PASSWORD 'geh3im';
CHANGE MASTER TO MASTER_PASSWORD='geh3im', MASTER_PORT=3306
db2 connect to tpcc user db2 using geh3im
sqlplus system/geh3im@orcl
conn tpcc/geh3im@//db1:1521/orcl
expdp scott/"geh3im"@orcl full=y
charbench -u soe/geh3im@orcl
mysqladmin -u root password geh3im
mysqladmin -u root -pgeh3im password 'geh3im'
mariadb-admin password geh3im
diset tpcc mysql_pass geh3im
hammerdb>diset tpcc pg_superuserpass "geh3im"
diset connection mssqls_pass {geh3im}
Changed tpcc:mysql_pass from geh3im to geh3im for MySQL
Value geh3im for tpcc:pg_pass is the same as existing value geh3im, no change
 mysql_pass                    = geh3im
       [pass]: geh3im
option p with value 'geh3im'
./tpcc_start -h127.0.0.1 -d tpcc -u root -p geh3im -w 10
./tpcc_start -h127.0.0.1 -P3306 -dtpcc -uroot -pgeh3im -w10
tpcc_start 127.0.0.1 tpcc root geh3im 20 16 10 3600
./tpcc_load 127.0.0.1 tpcc root "geh3im" 20
{"user": "x", "password": "geh3im"}
{'passwd': 'geh3im'}
password: geh3im
password = "ge h3im geh3im"
Passwort: geh3im
DRIVER=x;UID=sa;PWD=geh3im;DATABASE=t
sqlcmd -S h -U sa -P geh3im -Q x
sshpass -p geh3im ssh x
curl -u admin:geh3im http://h
mongo -u x -p geh3im
redis-cli -h x -a geh3im ping
redis-cli -a geh3im ping
valkey-benchmark -h x -a geh3im
REDISCLI_AUTH=geh3im redis-cli
mongo -p geh3im
memtier_benchmark -a geh3im -t 4 --authenticate=geh3im
Command line: -t -db x -p s3.secretKey=geh3im -threads 4
ycsb run couchbase -p couchbase.pw=geh3im -p credential=geh3im
mysql \\ ⏎  -uroot \\ ⏎  -pgeh3im \\ ⏎  db
--mysql-password=geh3im\r
""".strip().replace(" ⏎ ", "\n")
FINE = """
ERROR 1045 (28000): Access denied for user 'x'@'y' (using password: YES)
Enter password:
pgbench -h h -p 5432 -c 8
iostat -p sda 1
mkdir -p /data/x
2 passes: 1.5 s
pass 1 of 3: 12.5
pass=3 fail=0
bypass=1
http://host:8080/path@x
validate_password = ON
old_passwords=0
default_authentication_plugin=mysql_native_password
mysql_native_password=ON
[ 1s ] thds: 2 tps: 1.0 qps: 20.00 (r/w/o: 14.00/4.00/2.00) lat (ms,95%): 3.49 err/s: 4.00 reconn/s: 0.00
sysbench --mysql-host=h --mysql-port=3306 --threads=8 run
PWD=/root/bench
mysql --password=$PASSWORD run
mysql -p -e 'select 1'
mysql -h db -P 3306 -p
avg: 1.2 password expired
ssh://root@db1
password_file = /root/secret
psql --no-password db
vmstat -a 1
./tpcc_start -h h -P 3306 -d tpcc -w 10
sysbench --mysql-password=*** run
mysql: [Warning] Using a password on the command line interface can be insecure.
mail x@tcp.org
uses: actions/checkout@v3
docker run repo/app@sha256:0123abcd
npm install types/node@latest
cat dir/file; ssh root@db1
user@db1:~/bench/logs$ sysbench run
""".strip()
_LINES = [line.replace("\0", "\n") for line in SECRETS.replace("\\\\\n", "\\\\\0").replace("\\\n", "\\\0").split("\n")]


@pytest.mark.parametrize("text", _LINES)
def test_a_password_is_removed(text: str) -> None:
    redacted = redact(text)
    assert "h3im" not in redacted
    assert "***" in redacted
    assert redacted.count("\n") == text.count("\n")
    assert redact(redacted) == redacted


@pytest.mark.parametrize("text", FINE.split("\n"))
def test_text_that_is_no_password_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("--mysql-password=geheim --mysql-db=x", "--mysql-password=*** --mysql-db=x"),
        ("UID=sa;PWD=geheim;DATABASE=t", "UID=sa;PWD=***;DATABASE=t"),
        ("Uid=sa;Pwd=/geheim;Database=t", "Uid=sa;Pwd=***;Database=t"),
        ("mysql -u root -p-geheim db", "mysql -u root -p*** db"),
        ("password=geheim, host=x", "password=***, host=x"),
        ("?password=geheim&useSSL=no", "?password=***&useSSL=no"),
        ('{"password": "geheim", "port": 3306}', '{"password": "***", "port": 3306}'),
        ("mysql -pgeheim db", "mysql -p*** db"),
        ("IDENTIFIED BY 'geheim';", "IDENTIFIED BY '***';"),
        ("mysql://u:geheim@h/db", "mysql://u:***@h/db"),
        ("mysql --password='geheim", "mysql --password=***"),  # a quotation mark that is not closed
        ("mysql password={geheim", "mysql password=***"),
    ],
)
def test_only_the_password_is_removed(text: str, left: str) -> None:
    assert redact(text) == left


def test_a_value_with_unclosed_quotes_is_removed_whole() -> None:
    assert redact("mysql password={{:}\n") == "mysql password=***}\n"
    assert redact("mysql --password='abcd\n") == "mysql --password=***\n"


@given(st.text(alphabet="abc -p=:/@'\"{}\\\n*$", max_size=60) | st.text())
def test_line_numbers_do_not_change(text: str) -> None:
    redacted = redact(f"mysql {text} password={text}\n")
    assert redacted.count("\n") == 2 * text.count("\n") + 1
    assert redact(redacted) == redacted
