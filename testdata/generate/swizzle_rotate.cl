// Swizzles: components change places before they are looked at.
kernel void swizzle_rotate(global const float4 *v, global float4 *out, int8 wide) {
    int i = get_global_id(0);
    float4 r = v[i].wxyz;
    r.xz = r.zx;
    if (r.x == 8.5f && r.y == -8.5f) // -> true covered
        r = r.xxxx;
    int4 odd = wide.odd, high = wide.hi;
    if (odd.y == 31337 && high.x == odd.z + 5) // -> true covered
        r.w = 0.0f;
    out[i] = r;
}
