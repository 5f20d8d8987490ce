//! Checks the functions of CUDA's warps against what they are defined to yield, for masks and values at random.

use std::fmt::Write;
use std::fs;

use crate::common::TestResult;
use crate::common::program::kassay;

const LANES: usize = 32;

/// Pseudo-random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// A warp whose lanes are in groups, each of which calls functions with its own mask.
struct Warp {
    masks: [u32; LANES],
    values: [i32; LANES],
    /// A lane of the own group.
    from: [usize; LANES],
}

impl Warp {
    fn random(random: &mut Random) -> Warp {
        let groups = 1 + random.below(5);
        let group: [u64; LANES] = std::array::from_fn(|_| random.below(groups));
        let masks: [u32; LANES] = std::array::from_fn(|lane| {
            (0..LANES).filter(|other| group[*other] == group[lane]).fold(0, |mask, other| mask | 1 << other)
        });
        // Few, so that some are equal, and of both signs.
        let values = std::array::from_fn(|_| (random.below(5) as i32 - 2).wrapping_mul(0x1234_5677));
        let from = masks.map(|mask| members(mask).nth(random.below(mask.count_ones().into()) as usize).unwrap());
        Warp { masks, values, from }
    }

    /// The value of a lane if the mask names it; what kassay yields otherwise, where CUDA leaves it open.
    fn of(&self, mask: u32, from: usize) -> i32 {
        if mask >> from & 1 != 0 { self.values[from] } else { 0 }
    }

    /// What each function yields in a lane, in the order of the kernel.
    fn expected(&self, lane: usize) -> Vec<i32> {
        let (mask, own) = (self.masks[lane], self.values[lane]);
        let all = || members(mask).map(|other| self.values[other]);
        let vote = |is_so: &dyn Fn(i32) -> bool| {
            members(mask).filter(|other| is_so(self.values[*other])).fold(0u32, |votes, other| votes | 1 << other)
        };
        let is_odd = |value: i32| value & 1 != 0;
        let odd = vote(&is_odd);
        let same = vote(&|value| value == own);
        let all_same = same == mask;
        let up = if lane % 16 < 3 { own } else { self.of(mask, lane - 3) };
        let down = if lane % 8 >= 6 { own } else { self.of(mask, lane + 2) };
        vec![
            odd as i32,
            i32::from(odd != 0),
            i32::from(odd == mask),
            self.values[self.from[lane]],
            up,
            down,
            self.of(mask, lane ^ 5),
            all().fold(0, i32::wrapping_add),
            all().min().unwrap(),
            all().max().unwrap(),
            all().map(|value| value as u32).min().unwrap() as i32,
            all().fold(-1, |a, b| a & b),
            all().fold(0, |a, b| a | b),
            all().fold(0, |a, b| a ^ b),
            same as i32,
            if all_same { mask as i32 } else { 0 },
            i32::from(all_same),
            ((i64::from(self.values[self.from[lane]]) * 3) >> 20) as i32,
            self.values[self.from[lane]],
            vote(&|value| value / 2 == own / 2) as i32,
        ]
    }
}

fn members(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

const FUNCTIONS: &str = "
struct Pair { double half; int whole; };
__global__ void functions(const unsigned *masks, const int *values, const int *lanes, int *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned m = masks[i];
    const int v = values[i], from = lanes[i];
    int *o = out + i * 20;
    o[0] = (int)__ballot_sync(m, v & 1);
    o[1] = __any_sync(m, v & 1);
    o[2] = __all_sync(m, v & 1);
    o[3] = __shfl_sync(m, v, from);
    o[4] = __shfl_up_sync(m, v, 3, 16);
    o[5] = __shfl_down_sync(m, v, 2, 8);
    o[6] = __shfl_xor_sync(m, v, 5);
    o[7] = __reduce_add_sync(m, v);
    o[8] = __reduce_min_sync(m, v);
    o[9] = __reduce_max_sync(m, v);
    o[10] = (int)__reduce_min_sync(m, (unsigned)v);
    o[11] = (int)__reduce_and_sync(m, (unsigned)v);
    o[12] = (int)__reduce_or_sync(m, (unsigned)v);
    o[13] = (int)__reduce_xor_sync(m, (unsigned)v);
    o[14] = (int)__match_any_sync(m, v);
    int same = 7;
    o[15] = (int)__match_all_sync(m, v, &same);
    o[16] = same;
    o[17] = (int)(__shfl_sync(m, 3ll * v, from) >> 20);
    const Pair pair = __shfl_sync(m, Pair{v / 2.0, v - v / 2}, from);
    o[18] = (int)(pair.half * 2);
    o[19] = (int)__match_any_sync(m, (double)(v / 2));
}";

fn listed<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    format!("[{}]", texts.join(", "))
}

/// Runs a kernel with a suite on the simulator, and returns what the program says; it has to succeed.
fn run(kernel: &str, suite: &str) -> TestResult {
    let scratch = tempfile::tempdir()?;
    fs::write(scratch.path().join("k.cu"), kernel)?;
    let path = scratch.path().join("suite.toml");
    fs::write(&path, format!("kernel = \"k.cu\"\n{suite}"))?;
    let run = kassay().arg("run").arg(&path).args(["--device", "sim"]).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert_eq!(run.status.code(), Some(0), "{said}");
    Ok(())
}

#[test]
fn functions_yield_what_they_are_defined_to_among_the_lanes_that_masks_name() -> TestResult {
    let mut random = Random(1);
    let warps: Vec<Warp> = (0..24).map(|_| Warp::random(&mut random)).collect();
    let all = |of: &dyn Fn(&Warp, usize) -> Vec<i64>| {
        listed(warps.iter().flat_map(|warp| (0..LANES).flat_map(|lane| of(warp, lane)).collect::<Vec<_>>()))
    };
    let mut suite = String::from("[[test]]\ngrid = [6]\nblock = [128]\n[test.args]\n");
    writeln!(suite, "masks = {{ values = {} }}", all(&|warp, lane| vec![warp.masks[lane].into()]))?;
    writeln!(suite, "values = {{ values = {} }}", all(&|warp, lane| vec![warp.values[lane].into()]))?;
    writeln!(suite, "lanes = {{ values = {} }}", all(&|warp, lane| vec![warp.from[lane] as i64]))?;
    let expected = all(&|warp, lane| warp.expected(lane).into_iter().map(i64::from).collect());
    writeln!(suite, "out = {{ fill = 0, len = {}, expect = {{ values = {expected} }} }}", warps.len() * LANES * 20)?;
    run(FUNCTIONS, &suite)
}

/// Lanes 0 to 9 take one branch, the others another one, each with functions of its own; the last five return.
#[test]
fn lanes_that_are_apart_meet_in_their_own_functions() -> TestResult {
    let kernel = "
        #include <cooperative_groups.h>
        namespace cg = cooperative_groups;
        __global__ void apart(int *out) {
            const int t = threadIdx.x;
            if (t >= 27) return;
            if (t < 10) {
                const auto group = cg::coalesced_threads();
                out[t] = (int)(group.size() * 100 + group.shfl((int)group.thread_rank(), 9));
            } else {
                const unsigned active = __activemask();
                const auto odd = cg::binary_partition(cg::coalesced_threads(), t % 2);
                out[t] = __popc(active) * 100 + cg::reduce(odd, t, cg::plus<int>());
            }
            // Both branches call the same function with the same mask.
            if (t % 2) out[t] += 10000 * __shfl_sync(0xffffffffu, t, 4);
            else out[t] += 10000 * __shfl_sync(0xffffffffu, t, 6);
        }";
    let odd: i32 = (10..27).filter(|t| t % 2 == 1).sum();
    let even: i32 = (10..27).filter(|t| t % 2 == 0).sum();
    let expected = (0..LANES as i32).map(|t| {
        let met = 10_000 * if t % 2 == 1 { 4 } else { 6 };
        match t {
            0..10 => 1009 + met,
            10..27 => 1700 + if t % 2 == 1 { odd } else { even } + met,
            _ => 0,
        }
    });
    let expected = listed(expected);
    run(
        kernel,
        &format!(
            "[[test]]\ngrid = [1]\nblock = [32]\n[test.args]\nout = {{ fill = 0, len = 32, expect = {{ values = {expected} }} }}\n"
        ),
    )
}
