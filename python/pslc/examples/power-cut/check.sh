# Whether the database and the file system on the drive that is the file $1 are sound, and no row is missing.
mkdir -p mnt
mount -o loop "$1" mnt || { echo "it cannot be mounted"; exit 1; }
says=
[ "$(sqlite3 mnt/db 'PRAGMA integrity_check')" = ok ] || says="the database is broken"
rows=$(sqlite3 mnt/db 'SELECT count(*) FROM t') || rows=0
[ "$rows" -ge "$(cat done.txt)" ] || says="$rows of $(cat done.txt) rows"
umount mnt
e2fsck -fn "$1" > fsck.txt || says="the file system is broken"
[ -z "$says" ] || { echo "$says"; exit 1; }
