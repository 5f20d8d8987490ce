// Stores words `shift` bytes into a buffer.
//
// Fixture: with an odd `shift`, words are stored at odd bytes, which processors of PCs do and GPUs do not.
kernel void misaligned_store(global uchar *out, const int shift)
{
    const int i = get_global_id(0);
    *(global uint *)(out + 4 * i + shift) = 0x01010101u;
}
