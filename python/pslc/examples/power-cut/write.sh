# Rows for a database on the drive that is the file $1, each with its number in done.txt once SQLite said that it is there.
echo 0 > done.txt
mkdir -p mnt
mount -o loop "$1" mnt || exit 9
trap 'umount -l mnt' EXIT
for n in $(seq 1 40); do
    sqlite3 mnt/db "PRAGMA synchronous=${SYNCHRONOUS:-FULL}; CREATE TABLE IF NOT EXISTS t(n); INSERT INTO t VALUES($n)" || exit 1
    echo $n > done.txt
done
