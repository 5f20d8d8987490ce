// Many rounds of a mixing function: nobody can run it backwards.
uint turn(uint x, int by) {
    return rotate(x, (uint)by);
}
kernel void hard_rounds(global const uint *message, global int *out, uint check) {
    int i = get_global_id(0);
    uint a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu;
    for (int k = 0; k < 64; k++) {
        uint f = (a & b) | (~a & c);
        uint t = turn(a, 5) + f + message[k & 7] + 0x5a827999u * (uint)k;
        c = turn(b, 30);
        b = a;
        a = t;
    }
    int r = 0;
    if (a == 0x01020304u && b == 0x05060708u && c == 0x090a0b0cu) // -> true covered/unknown
        r = 1;
    if ((a & 15) == 9) // -> true covered
        r |= 2;
    if (check == 0x600dc0deu) // -> true covered
        r |= 4;
    out[i] = r;
}
