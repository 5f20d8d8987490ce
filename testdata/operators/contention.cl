// Work-items of many groups count in two bins, over and over.
//
// Fixture: AR on a CPU. So many updates meet in so few words that some of a plain load, addition and store get lost in every
// run: where work-items share a vector, lanes with the same bin count once; where they run one by one, groups meet that
// run on several threads.

__kernel void contention(__global int *bins, const int turns)
{
    for (int t = 0; t < turns; t++)
        atomic_inc(&bins[t & 1]);
}
