//! Defines kernels that are hard to read from the IR, each with the number of its sites, counted by hand: one for each
//! `if`, `?:`, `switch`, loop, barrier, and operand of `&&` and `||`.

/// Name, number of sites, source; `K` opens a kernel with a buffer `o` and numbers `a`, `b`, `c`.
pub const KERNELS: &[(&str, usize, &str)] = &[
    ("macro argument used twice", 6, "#define MAX(x, y) ((x) > (y) ? (x) : (y))
K { o[0] = MAX(MAX(a, b), c); o[1] = MAX(a ? 1 : 2, 7); }"),
    ("nested ternaries in a condition", 4, "K { if ((a ? b : (c ? a : b)) > 3) o[0] = 1; o[1] = a ? 1 : 0; }"),
    ("a ternary as the condition", 4, "K { if (a ? b : c) o[0] = 1; if (a > 1 ? b > 2 : c > 3) o[1] = 1; }"),
    ("a ternary as the condition of a ternary", 2, "K { o[0] = (a ? b : c) ? o[1] : o[2]; }"),
    ("short-circuits in the arms of a ternary", 6, "K { o[0] = a ? (b && c) : (b || o[1]); if (a) o[1] = 2; }"),
    ("not over and", 8, "K { if (!(a && b)) o[0] = 1; if (!(!a || !(b && c))) o[1] = 1; else o[2] = 2; int d = !(a); o[3] = d; if (!d) o[4] = 1; }"),
    ("a ternary with two truth values in a short-circuit", 4, "K { if (a && (b ? c > 1 : c < 1)) o[0] = 1; }"),
    ("a ternary of short-circuits as the condition", 6, "K { if (a ? b && c : b || c) o[0] = 1; }"),
    ("comma", 6, "K { if (o[0] = a, b) o[1] = 1; for (int i = 0, j = 9; i++, j > i; j--) o[2] = (a++, b) ? 1 : 2; if ((a, b) && (b, c)) ; }"),
    ("switch with ranges", 1, "K { switch (a) { case 1 ... 3: o[0] = 1; break; case 7: o[1] = 1; break; default: o[2] = 1; } }"),
    ("switch with a wide range", 1, "K { switch (a) { case -5 ... 900: o[0] = 1; break; case 2000 ... 5000000: case 7000000: o[1] = 1; break; } }"),
    ("switch with neighbouring ranges", 2, "K { switch (a) { case 0 ... 9: o[0] = 1; case 10 ... 19: if (b) o[1] = 1; break; case 20: case 21 ... 22: o[2] = 1; } }"),
    ("switch with fall-through", 1, "K { switch (a) { case 1: o[0] = 1; case 2: case 3: o[1] = 1; break; case 4: break; default: o[2] = 1; } }"),
    ("nested switches", 4, "K { switch (a) { case 1: switch (b) { case 5: o[0] = 1; break; case 6: o[1] = 1; } break; case 2: if (c) { case 3: o[3] = 1; } } switch (c) { default: o[2] = 1; } }"),
    ("switch without default, default first", 2, "K { switch (a) { case 1: o[0] = 1; } switch (b) { default: o[1] = 1; break; case 1: o[1] = 2; } }"),
    ("switch on an expression", 5, "K { switch (a && b) { case 0: o[0] = 1; } switch (a ? b : c) { case 3: o[1] = 1; } }"),
    ("switch on char, long and enum", 3, "enum e { A, B, C };
K { switch ((char)a) { case 'x': o[0] = 1; } switch ((long)b << 40) { case 1L << 40: o[1] = 1; } enum e d = c; switch (d) { case A: case B: o[2] = 1; case C:; } }"),
    ("switch on a constant", 2, "K { switch (3) { case 2: if (a) o[0] = 1; break; case 3: if (b) o[1] = 1; break; default: o[2] = c ? o[0] : 5; } if (a) o[3] = 1; }"),
    ("switch on a constant enumerator", 2, "typedef enum mode { OFF, ON, AUTO } mode;
K { const mode m = ON; switch (m) { case OFF: { if (a) o[0] = 1; break; } case ON: { if (b) o[1] = 1; } case AUTO: { o[2] = c ? o[0] : 4; break; } } }"),
    ("switch in a loop with continue", 3, "K { for (int i = 0; i < a; i++) { switch (b) { case 1: continue; case 2: break; default: o[0] = 1; } if (c) o[i] = 1; } }"),
    ("goto loops", 3, "K { int i = 0; again: o[i] = i; i++; if (i < a) goto again; if (b) goto end; if (c) o[0] = 1; end: o[1] = 1; }"),
    ("loops that never repeat", 3, "K { while (a) { o[0] = 1; break; } for (int i = 0; i < b; i++) { o[1] = 1; return; } do { o[2] = 1; break; } while (c); if (a) o[3] = 1; }"),
    ("an endless loop with only break", 4, "K { for (;;) { if (a++ > 9) break; } while (1) { if (b++ > 9) break; } }"),
    ("an endless loop that returns", 5, "K { if (a) { while (1) { o[0]++; if (o[0] > 5) return; } } do { if (b--) return; } while (true); }"),
    ("do-while with continue", 2, "K { do { if (a > 3) continue; o[a] = 1; } while (a-- > 0); }"),
    ("do-while zero with break", 2, "K { do { if (a) break; o[0] = 1; } while (0); do { if (b) { o[1] = 1; continue; } o[2] = 1; } while (false); }"),
    ("conditions with calls and side effects", 5, "int f(int x) { return x > 3; }
K { if (f(a)) o[0] = 1; if (f(a) && f(b++)) o[1] = 1; while (f(c--)) o[2]++; }"),
    ("bool variables", 9, "K { bool x = a > 1; bool y = x && b; if (x) o[0] = 1; if (!y) o[1] = 1; if (x == y) o[2] = 1; while (y) { y = x || c; } bool z = x ? y : !y; o[3] = z; }"),
    ("bool ternaries", 3, "K { bool x = a ? b : c; bool y = a > 1 ? b > 2 : c > 3; o[0] = x + y; o[1] = (a ? true : false); }"),
    ("vector ternaries and select", 1, "K { int4 v = vload4(0, o); v = v > 3 ? v : (int4)(0); v = v && (v > 1); vstore4(v, 0, o); o[4] = select(a, b, c); float4 w = isless((float4)(a), (float4)(b)) ? (float4)(1) : (float4)(2); o[5] = a ? w.x : w.y; }"),
    ("a scalar condition with vector arms", 2, "K { int4 v = vload4(0, o); vstore4(a ? v : (int4)(0), 0, o); float2 w = b > c ? (float2)(1, 2) : (float2)(3); o[4] = w.x; }"),
    ("constant conditions", 3, "#define ON 1
enum { NEVER, ALWAYS };
__constant int LIMIT = 4;
K { const int n = 3; if (ON) o[0] = 1; if (NEVER) o[1] = 1; else if (a) o[2] = 1; if (n > 2 && ALWAYS) o[3] = 1; if (LIMIT == 5) o[4] = b ? 1 : 2; o[5] = ON ? a : b; if (ON && b) o[6] = 1; if (sizeof(int) == 8 || c) o[7] = 1; }"),
    ("constant floats and casts", 2, "K { if (1.0f > 0.5f) o[0] = 1; if ((int)2.5f == 2) o[1] = 1; if (0.0f) o[2] = 1; if (a * 0.0f > 1.0f) o[3] = 1; if (!1.5f || b) o[4] = 1; }"),
    ("sizeof", 2, "typedef struct { char x; int y; long z; } s;
K { if (sizeof(long) > 4) o[0] = 1; if (sizeof(s) + a > 8) o[1] = 1; o[2] = sizeof(a ? b : c); o[3] = sizeof(float3) == 16 ? 1 : a; int t[sizeof(int2) > 4 ? 2 : 1]; t[0] = a; o[4] = t[0]; if (sizeof(t) > a) o[5] = 1; }"),
    ("constants with unknown operands", 3, "int f_of(int x);
K { if (0 && f_of(a)) o[0] = 1; if (1 || a) o[1] = 1; if (a || 1) o[2] = 1; if (a && 0) o[3] = 1; if (b) o[4] = 1; }"),
    ("helpers of helpers", 4, "int g(int x) { return x ? 1 : 2; }
static int h(int x) { if (x) return g(x); return g(x + 1); }
inline int i2(int x) { for (int i = 0; i < 3; i++) x += h(x); return x; }
K { o[0] = i2(a) + g(b); if (c) o[1] = h(c); }"),
    ("a kernel that calls a kernel", 3, "__kernel void other(__global int *o, int x) { if (x) o[0] = 1; }
K { for (int i = 0; i < a; i++) other(o, i); if (b) other(o, 2); }"),
    ("early returns in loops", 5, "int find(__global int *o, int n) { for (int i = 0; i < n; i++) { if (o[i] == 7) return i; if (o[i] < 0) continue; } return -1; }
K { while (true) { if (find(o, a) < 0) return; o[a--] = 1; } }"),
    ("empty bodies", 6, "K { if (a) ; if (b) {} else {} for (int i = 0; i < a; i++) ; while (o[a++]) ; do ; while (b++ < c); for (;a-- > 0;) {} }"),
    ("barriers wherever", 6, "#define SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define BOTH SYNC; barrier(CLK_GLOBAL_MEM_FENCE)
void sync(void) { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }
K { SYNC; for (int i = 0; i < 3; i++) { BOTH; } if (a > 3) { sync(); } }"),
    ("a barrier under a constant condition", 2, "#define USE 0
K { if (USE) barrier(CLK_LOCAL_MEM_FENCE); if (!USE) barrier(CLK_LOCAL_MEM_FENCE); mem_fence(CLK_LOCAL_MEM_FENCE); if (a) return; return; barrier(CLK_LOCAL_MEM_FENCE); }"),
    ("old atomics in conditions", 6, "K { if (atomic_inc(o) > 3) o[1] = 1; while (atomic_cmpxchg(o, 0, 1) != 0) ; if (atomic_add(o, a) && !atomic_xchg(o, b)) o[2] = 1; o[3] = atomic_max(o, a ? b : c); }"),
    ("an if with an empty then", 4, "K { if (a) {} else o[0] = 1; if (b) ; else if (c) {} else { o[1] = 1; } if (a > b) {} }"),
    ("else-if chains", 4, "K { if (a == 1) o[0] = 1; else if (a == 2) o[0] = 2; else if (a == 3) { o[0] = 3; } else { if (b) o[0] = 4; } }"),
    ("a ternary as a statement", 4, "K { a ? (void)(o[0] = 1) : (void)(o[1] = 1); b ? o[2]++ : 0; c ? (a ? o[3]++ : o[4]--) : o[5]++; }"),
    ("a ternary in a loop condition", 8, "K { for (int i = 0; i < (a > b ? a : b); i++) o[i] = 1; while (a ? b-- : c--) o[0]++; do o[1]++; while ((a ? b : c) > o[1]); for (int i = 0; a ? i < 3 : i < 5; i++) o[2]++; }"),
    ("short-circuits in loop conditions", 13, "K { for (int i = 0; i < a && o[i]; i++) o[i] = 1; while (a-- || b--) o[0]++; do o[1]++; while (o[1] < 9 && (b || c)); while (!(a && b)) { a++; b++; } }"),
    ("a short-circuit in an array's index", 4, "K { o[a && b] = 1; o[2 + (a || b)] = 2; }"),
    ("a short-circuit in a call's arguments", 7, "int f(int x, int y) { return x - y; }
K { o[0] = f(a && b, b || c); o[1] = max(a, (int)(b && c)) + (a ? 1 : 2); }"),
    ("a short-circuit in a return", 5, "int f(int x, int y) { return x && y; }
bool g(int x, int y) { return x || !y; }
K { o[0] = f(a, b) + g(b, c); if (a) return; }"),
    ("a short-circuit in initialisers", 8, "typedef struct { int x, y; } s;
K { int d = a && b; int t[2] = { a || c, 5 }; s u = { .x = b && c, .y = a ? 1 : 2 }; o[0] = d + t[0] + u.x; if (u.y) o[1] = t[1]; }"),
    ("a long condition", 9, "K {
    if (a > 1
        && (b < 2
            || c == 3)
        && !(a
             > b)) {
        o[0] = 1;
    }
    for (int i = 0;
         i < a
         &&
         o[i] > 3;
         i++)
        o[i] = 0;
    o[1] =
        a
        > b
        ? 1
        : 2;
}"),
    ("deep short-circuits", 18, "K { if ((a && b) || (b && c) || !(a || (b && !c))) o[0] = 1; if (a || b || c || o[1]) o[2] = 1; if ((a || b) && (b || c)) o[3] = 1; }"),
    ("a short-circuit compared", 5, "K { if ((a && b) == c) o[0] = 1; o[1] = (a || b) + 1; }"),
    ("a short-circuit within an operand", 9, "K { if (o[a && b] && c) o[0] = 1; o[1] = (o[a || c] > 1) && b; }"),
    ("conditions of all types", 8, "K { __global int *p = o + a; float f = a * 0.5f; long l = b; if (p) o[0] = 1; if (f) o[1] = 1; if (!f) o[2] = 1; if (l) o[3] = 1; if (f > 1.0f && p != 0) o[4] = 1; if ((uchar)a) o[5] = 1; }"),
    ("selects of two kinds", 4, "K { int m = a > b ? a : b; int n = a < b ? -a : -b; float f = a ? 1.0f : 0.0f; uchar u = b ? 1 : 0; o[0] = m + n + (int)f + u; }"),
    ("truth values as numbers", 2, "K { int d = a > b; int e = !c; int f = (bool)a; o[0] = d + e + f + (a == b) * (b != c); if (d & e) o[1] = 1; if (d | f) o[2] = 1; }"),
    ("the conditional without a middle", 3, "K { o[0] = a ?: b; if ((b ?: c) > 2) o[1] = 1; }"),
    ("compound assignment of a truth value", 7, "K { bool x = false; x |= a && b; x ^= c; o[0] += x ? a : b; o[1] <<= (a || b); int y = 0; y = x = a && c; o[2] = y; }"),
    ("nested loops on one line", 4, "K { for (int i = 0; i < a; i++) for (int j = 0; j < b; j++) while (o[i] < j) do o[i]++; while (o[i] < 3); for (;;) { break; } }"),
    ("a loop in a macro", 6, "#define EACH(i, n) for (int i = 0; i < (n); i++)
#define GUARD(x) if (!(x)) return
K { GUARD(a && b); EACH(i, a) EACH(j, b) { o[i] += j; } GUARD(c); }"),
    ("statement expressions", 3, "K { int d = ({ int t = a; if (t > 3) t = 3; t; }); o[0] = d ? 1 : 2; if (({ b + c; })) o[1] = 1; }"),
    ("structs and unions in conditions", 4, "typedef struct { int x; union { int i; float f; } u; } s;
K { s v; v.x = a; v.u.i = b; if (v.x) o[0] = 1; if (v.u.f > 1.0f) o[1] = 1; s w = c ? v : v; s *p = &v; o[2] = w.x + (p->x > 2 ? 1 : 5); }"),
    ("unreachable code", 2, "K { if (a) { o[0] = 1; return; if (b) o[1] = 1; } for (int i = 0; i < b; i++) { continue; if (c) o[2] = 1; } }"),
    ("loops with constant conditions", 7, "#define N 8
K { for (int i = 0; i < N; i++) o[i] = 1; while (0) { if (a) o[0] = 1; } for (; 0;) o[1] = 1; for (; 1;) { if (b--) break; } do { o[2]++; } while (N < 3); if (c) o[3] = 1; }"),
    ("a switch as a loop's body", 4, "K { while (b--) switch (c) { case 1: break; case 2: continue; } for (int i = 0; i < a; i++) switch (o[i]) { default: o[i]++; } }"),
    ("an operand that is constant", 4, "K { if (a && 0) o[0] = 1; else o[1] = 1; if (b || 1) o[2] = 1; if (1 && c) o[3] = 1; while (a-- && 1) ; o[4] = a || 0; }"),
    ("preprocessor in between", 2, "#define USE_B 1
K {
#if USE_B
    if (b) {
#else
    if (a) {
#endif
        o[0] = 1;
    }
#line 900 \"elsewhere.cl\"
    o[1] = c ? a : b;
}"),
];

/// The same for OpenCL C 2.0.
pub const KERNELS_20: &[(&str, usize, &str)] = &[
    (
        "C11 atomics with compound assignment",
        5,
        "K20 { atomic_fetch_add(p, a); int e = 1; if (atomic_compare_exchange_strong(p, &e, 5)) o[1] = 1; while (!atomic_compare_exchange_weak(p, &e, e + 1)) ; if (atomic_load(p) && a) o[2] = 1; }",
    ),
    (
        "work-group barriers",
        3,
        "K20 { work_group_barrier(CLK_LOCAL_MEM_FENCE); if (a > 0) work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device); atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_work_group); }",
    ),
    (
        "generic pointers",
        3,
        "int g(int *q) { return *q ? 1 : 2; }
K20 { int x = a; int *q = b ? &x : &x; o[0] = g(q); if (q != 0) o[1] = g(&x); }",
    ),
];
