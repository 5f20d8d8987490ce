// As before a table's begin, with a number that chance does not hit.
kernel void fault_solved(global const int *table, global int *out, int n) {
    int v = table[-2];
    if (n * 3 + 1 == 370369 && table[n & 7] == 54321) // -> true covered-with-fault, false covered-with-fault
        v = 1;
    out[get_global_id(0)] = v;
}
