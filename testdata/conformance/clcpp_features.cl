// conformance: out=2048 global=256 local=64 options=-cl-std=CLC++
// C++ for OpenCL: templates, overloaded operators, references, lambdas, constructors.
template <typename T, int N> struct Fixed {
    T items[N];
    T& operator[](int i) { return items[i]; }
    T sum() const { T s = 0; for (int i = 0; i < N; i++) s += items[i]; return s; }
};
struct Length {
    int value;
    Length(int v) : value(v) { }
    Length operator+(const Length& other) const { return Length(value + other.value); }
};
template <typename T> T larger(const T& a, const T& b) { return a > b ? a : b; }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    Fixed<int, 4> list;
    for (int i = 0; i < 4; i++)
        list[i] = (in + 256)[(g + i) & 255];
    auto scaled = [&](int by) { return list.sum() * by; };
    Length total = Length(larger(list[0], list[1])) + Length(3);
    ((__global int*)out)[g] = scaled(2) + total.value;
    ((__global int*)out)[256 + g] = larger<short>(list[2], list[3]) + static_cast<int>(sizeof(list));
}
