// A hash of xor, rotation and addition, which can be run backwards.
uint mix(uint h, uint word) {
    h ^= word;
    h = rotate(h, 13u);
    return h * 5u + 0xe6546b64u;
}
kernel void hash_rotate(global const uint *words, global int *found, uint seed) {
    int i = get_global_id(0);
    uint h = mix(mix(seed, words[2 * i]), words[2 * i + 1]);
    if (h == 0xcafed00du) // -> true covered
        found[i] = 1;
    else
        found[i] = 0;
}
