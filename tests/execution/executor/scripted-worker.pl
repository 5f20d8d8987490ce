#!/usr/bin/perl
# Stands for a worker process: answers each request with the next line of worker.script, and once there is shared memory,
# writes worker.memory over it.
use strict;
use warnings;

my ($fd, $memory) = @ARGV[2, 4];
my $folder = $0 =~ s{/[^/]*$}{}r;
open(my $socket, '+<&=', $fd) or exit 9;
binmode $socket;
open(my $script, '<:raw', "$folder/worker.script") or exit 9;
my $over = do { local $/; open(my $file, '<:raw', "$folder/worker.memory") or exit 9; <$file> };

sub get {
    my ($length) = @_;
    my $bytes = '';
    while (length $bytes < $length) {
        sysread($socket, $bytes, $length - length $bytes, length $bytes) or exit 0;
    }
    return $bytes;
}

while (1) {
    get(unpack 'V', get(4));
    my $line = <$script>;
    exit 7 unless defined $line;
    chomp $line;
    if (length($over // '') && open(my $file, '+<:raw', "/proc/self/fd/$memory")) {
        print {$file} substr($over, 0, -s $file);
        close $file;
    }
    # A line that begins with a bang is sent as it is, others as the body of a message.
    my $bytes = $line =~ s/^!// ? $line : pack('V', length $line) . $line;
    syswrite($socket, $bytes);
}
