// Each work-item stores its number; the last one also stores `behind` elements further on, unless that is 0.
//
// Fixture: a store one element behind the buffer. Drivers round the size of buffers up, so that nothing shows where no
// guard looks.
kernel void near_store(global int *out, const int behind)
{
    const int i = get_global_id(0);
    out[i] = i;
    if (behind != 0 && i + 1 == get_global_size(0))
        out[i + behind] = i;
}
