# Configures the system at $1 as a sandbox, and leaves its disk there as /disk.img and its kernel as /kernel.
# Run by mmdebstrap as root of the system's name space. $2 is the PARTUUID of the root partition.
set -eu
root=$1

printf 'sandbox\n' >"$root/etc/hostname"
: >"$root/etc/machine-id" # made at the first boot
printf '127.0.0.1 localhost sandbox\n' >"$root/etc/hosts"
printf 'PARTUUID=%s / ext4 noatime 0 1\n' "$2" >"$root/etc/fstab"

# The address that QEMU's user network forwards to.
printf '[Match]\nType=ether\n[Network]\nAddress=10.0.2.15/24\nLinkLocalAddressing=no\n' \
    >"$root/etc/systemd/network/sandbox.network"
chroot "$root" systemctl --quiet enable systemd-networkd

# The key comes with the kernel's parameters, so that one image serves all sandboxes.
rm -f "$root"/etc/ssh/ssh_host_*
cat >"$root/usr/local/sbin/sandbox-key" <<'KEY'
#!/bin/sh
sed -n 's/.*paribus\.key=\([A-Za-z0-9+/=]*\).*/\1/p' /proc/cmdline | base64 -d
KEY
chmod 755 "$root/usr/local/sbin/sandbox-key"
cat >"$root/etc/ssh/sshd_config" <<'SSHD'
HostKey /etc/ssh/ssh_host_ed25519_key
AuthorizedKeysCommand /usr/local/sbin/sandbox-key
AuthorizedKeysCommandUser nobody
PasswordAuthentication no
UsePAM no
UseDNS no
MaxStartups 100
SSHD
mkdir -p "$root/etc/systemd/system/ssh.service.d"
cat >"$root/etc/systemd/system/ssh.service.d/sandbox.conf" <<'UNIT'
[Unit]
After=
[Service]
ExecStartPre=
ExecStartPre=/bin/sh -c 'test -e /etc/ssh/ssh_host_ed25519_key || ssh-keygen -q -t ed25519 -N "" -f /etc/ssh/ssh_host_ed25519_key'
RuntimeDirectory=sshd
UNIT

# What would run by itself beside a measurement, or delay the start.
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
    fstrim.timer zfs-zed.service nvmf-autoconnect.service systemd-logind.service mdcheck_continue.timer mdcheck_start.timer mdmonitor-oneshot.timer mdmonitor.service \
    systemd-networkd-wait-online.service systemd-pstore.service xfs_scrub_all.timer \
    serial-getty@ttyS0.service getty@tty1.service mariadb.service mysql.service postgresql.service; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done

kernel=$(ls "$root"/boot/vmlinuz-* | tail -1)
mv "$kernel" "$root/kernel"

work=$(mktemp -d)
mkdir "$work/tree"
mount --bind "$root" "$work/tree" # without /proc and what else is mounted in it
used=$(du -sxm "$work/tree" | cut -f1)
truncate -s "$((used + used / 4 + 1024))M" "$work/disk.img"
printf 'label: gpt\nstart=2048, uuid=%s\n' "$2" | sfdisk --quiet "$work/disk.img"
size=$(($(stat -c %s "$work/disk.img") / 1024 - 2048)) # in KiB, without both ends
mke2fs -q -t ext4 -d "$work/tree" -E offset=1048576 "$work/disk.img" "${size}k"
umount "$work/tree"
mv "$work/disk.img" "$root/disk.img"
rmdir "$work/tree" "$work"
