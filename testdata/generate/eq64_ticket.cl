// Equality with a number of 64 bits, in an argument and in a buffer.
kernel void eq64_ticket(global const ulong *tickets, global int *hits, ulong secret) {
    int i = get_global_id(0);
    int hit = 0;
    if (secret == 0x9e3779b97f4a7c15ul) // -> true covered
        hit = 1;
    if (tickets[i] == 11400714819323198485ul - 1ul) // -> true covered
        hit += 2;
    hits[i] = hit;
}
