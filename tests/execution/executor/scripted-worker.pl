#!/usr/bin/perl
# Stands for a worker process: answers each request with the next line of worker.script.
use strict;
use warnings;

my $folder = $0 =~ s{/[^/]*$}{}r;
# Standard input is the socket.
open(my $socket, '+<&=', 0) or exit 9;
binmode $socket;
open(my $script, '<:raw', "$folder/worker.script") or exit 9;

sub get {
    my ($length) = @_;
    my $bytes = '';
    while (length $bytes < $length) {
        sysread($socket, $bytes, $length - length $bytes, length $bytes) or exit 0;
    }
    return $bytes;
}

# A byte comes with the shared memory, which is not looked at.
get(1);
while (1) {
    get(unpack 'V', get(4));
    my $line = <$script>;
    exit 7 unless defined $line;
    chomp $line;
    # A line that begins with a bang is sent as it is, others as the body of a message.
    my $bytes = $line =~ s/^!// ? $line : pack('V', length $line) . $line;
    syswrite($socket, $bytes);
}
