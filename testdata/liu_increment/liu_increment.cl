// Adds 1 to every element; there is no guard, so the launch has to fit.
//
// Fixture: LIU's "Increment" (tables 7.3 to 7.8).

__kernel void liu_increment(__global int *data)
{
    int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    data[i] = data[i] + 1;
}
