// conformance: out=2048 global=256 local=64 options=-cl-std=CL3.0
// Shuffles within four neighbours, ballots and votes, in a form that does not depend on the sub-group's size.
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle_relative : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    int x = ((__global const short*)(in + 512))[g];
    uint lane = get_sub_group_local_id(), n = get_sub_group_size();
    int r = sub_group_shuffle_xor(x, 1) * 3 + sub_group_shuffle(x, lane ^ 2) * 5;
    int up = sub_group_shuffle_up(x, 1), down = sub_group_shuffle_down(x, 1);
    if ((lane & 3) != 0) r += up * 7;
    if ((lane & 3) != 3) r += down * 11;
    uint4 votes = sub_group_ballot(lane & 1);
    int right = sub_group_ballot_bit_count(votes) == n / 2 && sub_group_ballot_bit_extract(votes, lane) == (lane & 1);
    right &= sub_group_ballot_inclusive_scan(votes) == (lane + 1) / 2 && sub_group_inverse_ballot(votes) == (lane & 1);
    right &= sub_group_ballot_find_lsb(votes) == 1 && sub_group_broadcast_first(lane) == 0;
    right &= sub_group_ballot_find_msb(votes) == n / 2 * 2 - 1;
    ((__global int*)out)[g] = r;
    ((__global int*)out)[256 + g] = right;
}
