// All work-items store their number in one variable of the program.
//
// expect: racy all-interleavings
// finding A: data-race intra-group global last
// finding B: data-race inter-group global last

global int last = 3;

__kernel void note(__global int *out)
{
    last = (int)get_global_id(0); // <- A B
    out[get_global_id(0)] = 1;
}
