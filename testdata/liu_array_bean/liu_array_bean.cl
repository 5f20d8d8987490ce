// Books deposits and withdrawals on accounts, a structure each.
//
// Fixture: LIU's "ArrayBean" (tables 7.3 to 7.8): an array of structures that hold arrays, and arithmetic in plenty. The last
// branch needs an account that no test has: LIU's suite leaves 4 of 38 mutants uncovered.

typedef struct {
    int balance;
    int limit;
    int moves[4];
} account;

__kernel void liu_array_bean(__global account *accounts, const int n, const int fee)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    __global account *own = &accounts[i];
    int in = 0;
    int out = 0;
    for (int m = 0; m < 4; m++) {
        if (own->moves[m] > 0)
            in = in + own->moves[m] - own->moves[m] / 100;
        else
            out = out - own->moves[m] + fee;
        own->moves[m] = 0;
    }
    int after = own->balance + in - out;
    if (after + own->limit < 0)
        after = after - fee * 10;
    if (after > 1000000)
        after = after - (after - 1000000) / 8;
    own->balance = after;
}
