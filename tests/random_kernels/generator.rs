//! Generates random structured kernels in OpenCL C: structs with arrays and structs in them, pointers that wander,
//! helpers called from several places, nested loops with `break` and `continue`, switches that fall through, early
//! returns, barriers, atomics, vectors, private and local arrays. They compile; they need not end or stay in bounds,
//! because they are woven and not run.

use std::fmt::Write;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The most statements of a kernel; only blocks that are already open may add more.
const STATEMENTS: u32 = 28;
const DEPTH: u32 = 4;

/// Returns a kernel `k`, the same for the same seed.
pub fn kernel(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let statements = random.random_range(4..=STATEMENTS);
    let mut generator = Generator {
        random,
        text: String::new(),
        depth: 0,
        loops: 0,
        names: 0,
        left: 0,
        ints: Vec::new(),
        longs: Vec::new(),
        nodes: Vec::new(),
        vectors: Vec::new(),
        helpers: 0,
        in_helper: false,
        returns: "",
    };
    generator.file(statements);
    generator.text
}

struct Generator {
    random: ChaCha8Rng,
    text: String,
    /// Open blocks.
    depth: u32,
    /// Open loops.
    loops: u32,
    names: u32,
    /// Statements that may still be added.
    left: u32,
    /// Variables in scope that may be assigned.
    ints: Vec<String>,
    longs: Vec<String>,
    nodes: Vec<String>,
    vectors: Vec<String>,
    /// Helpers that are declared already: `h0` and so on.
    helpers: u32,
    in_helper: bool,
    /// The text of a `return` statement.
    returns: &'static str,
}

impl Generator {
    fn file(&mut self, statements: u32) {
        let (keys, inner) = (self.random.random_range(1..600), self.random.random_range(1..9));
        let _ = write!(
            self.text,
            "typedef struct {{ short s; int a[{inner}]; float2 f; }} inner_t;\n\
             typedef struct {{ int where; int keys[{keys}]; bool leaf; inner_t in[2]; long next; uint4 v; }} node_t;\n"
        );
        for _ in 0..self.random.random_range(0..3) {
            self.helper();
        }
        self.text.push_str(
            "__kernel void k(__global node_t *nodes, __global long *at, __global int *a, __global uint *u,\n    \
             __global float *f, __global int4 *v, __constant int *c, __local int *tmp, int n, long big, float x, inner_t by_value) {\n",
        );
        let length = self.random.random_range(1..65);
        let _ =
            writeln!(self.text, "    __local int tile[{length}];\n    __local inner_t parts[4];\n    int p[{length}];");
        self.text
            .push_str("    int i0 = get_global_id(0), i1 = n, i2 = 0;\n    long l0 = big, l1 = get_group_id(0);\n");
        self.text.push_str(
            "    __global node_t *q0 = nodes, *q1 = &nodes[at[l1]];\n    int4 w0 = v[i0];\n    float y = x;\n",
        );
        self.ints = ["i0", "i1", "i2"].map(str::to_owned).to_vec();
        self.longs = ["l0", "l1"].map(str::to_owned).to_vec();
        self.nodes = ["q0", "q1"].map(str::to_owned).to_vec();
        self.vectors = vec!["w0".to_owned()];
        self.depth = 1;
        self.left = statements;
        self.returns = "return;";
        while self.left > 0 {
            self.statement();
        }
        let (value, place) = (self.int(3), self.index());
        let _ = writeln!(
            self.text,
            "    a[{place}] = {value} + w0.x + p[0] + tile[0] + (int)y + i0 + i1 + i2 + (int)(l0 + l1);"
        );
        self.text.push_str("}\n");
    }

    fn helper(&mut self) {
        let _ = writeln!(
            self.text,
            "int h{}(__global node_t *nodes, __global long *at, __global int *a, int i0, long l0) {{",
            self.helpers
        );
        self.text.push_str("    int i1 = i0 + 1;\n    __global node_t *q0 = nodes + l0;\n");
        (self.ints, self.longs) = (vec!["i0".to_owned(), "i1".to_owned()], vec!["l0".to_owned()]);
        (self.nodes, self.vectors) = (vec!["q0".to_owned()], Vec::new());
        (self.depth, self.loops, self.in_helper, self.returns) = (1, 0, true, "return i1;");
        self.left = self.random.random_range(2..8);
        while self.left > 0 {
            self.statement();
        }
        let value = self.int(2);
        let _ = writeln!(self.text, "    return {value};\n}}");
        self.helpers += 1;
        self.in_helper = false;
    }

    fn fresh(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}n{}", self.names)
    }

    fn pick(&mut self, from: &[&str]) -> String {
        (*from.choose(&mut self.random).unwrap_or(&"0")).to_owned()
    }

    fn one_of(&mut self, of: &dyn Fn(&Generator) -> Vec<String>) -> String {
        let all = of(self);
        all.choose(&mut self.random).cloned().unwrap_or_else(|| "0".to_owned())
    }

    fn any_int(&mut self) -> String {
        self.one_of(&|g| g.ints.clone())
    }

    fn any_node(&mut self) -> String {
        self.one_of(&|g| g.nodes.clone())
    }

    fn any_long(&mut self) -> String {
        self.one_of(&|g| g.longs.clone())
    }

    /// Returns an index of either width, often read from memory.
    fn index(&mut self) -> String {
        match self.random.random_range(0..8) {
            0 | 1 => self.any_int(),
            2 => self.any_long(),
            3 => format!("at[{}]", self.any_int()),
            4 => format!("{}->next", self.any_node()),
            5 => format!("at[at[{}]]", self.any_long()),
            6 if !self.in_helper => format!("u[{}]", self.any_int()),
            _ => format!("{} & 7", self.any_int()),
        }
    }

    /// Returns an expression of type `int` that can be read or written.
    fn place(&mut self) -> String {
        let node = match self.random.random_range(0..3) {
            0 => format!("nodes[{}].", self.index()),
            _ => format!("{}->", self.any_node()),
        };
        let many = if self.in_helper { 5 } else { 11 };
        match self.random.random_range(0..many) {
            0 => format!("a[{}]", self.index()),
            1 => format!("{node}where"),
            2 => format!("{node}keys[{}]", self.index()),
            3 => format!("{node}in[{} & 1].a[{}]", self.any_int(), self.index()),
            4 => self.any_int(),
            5 => format!("p[{}]", self.index()),
            6 => format!("tile[{}]", self.index()),
            7 => format!("tmp[{}]", self.index()),
            8 => format!("parts[{}].a[{}]", self.index(), self.index()),
            9 => format!("v[{}].{}", self.index(), self.pick(&["x", "y", "w"])),
            _ => format!("by_value.a[{}]", self.index()),
        }
    }

    fn int(&mut self, depth: u32) -> String {
        let kinds = if depth == 0 { 4 } else { 17 };
        match self.random.random_range(0..kinds) {
            0 => self.random.random_range(-3..70).to_string(),
            1 => self.any_int(),
            2 | 3 => self.place(),
            4..=6 => {
                let operator = self.pick(&["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]);
                format!("({} {operator} {})", self.int(depth - 1), self.int(depth - 1))
            }
            7 => self.condition(depth - 1),
            8 => format!("({} ? {} : {})", self.condition(depth - 1), self.int(depth - 1), self.int(depth - 1)),
            9 => format!("{}{}", self.pick(&["-", "~", "!"]), self.int(depth - 1)),
            10 if self.helpers > 0 && !self.in_helper => {
                let helper = self.random.random_range(0..self.helpers);
                format!("h{helper}(nodes, at, a, {}, {})", self.int(depth - 1), self.index())
            }
            11 => format!(
                "{}({}, {})",
                self.pick(&["min", "max", "mul24", "rotate"]),
                self.int(depth - 1),
                self.int(depth - 1)
            ),
            12 => format!("(int){}", self.long(depth - 1)),
            13 => format!(
                "{}(&a[{}], {})",
                self.pick(&["atomic_add", "atomic_xchg", "atomic_min"]),
                self.index(),
                self.int(depth - 1)
            ),
            14 if !self.in_helper => format!("vload4({}, a).y", self.index()),
            15 if !self.in_helper => format!("(int)(f[{}] * {}.5f)", self.index(), self.random.random_range(0..9)),
            16 => self.pick(&[
                "(int)get_local_id(0)",
                "(int)get_group_id(0)",
                "(int)get_global_id(1)",
                "(int)get_local_size(0)",
            ]),
            _ => self.any_int(),
        }
    }

    fn long(&mut self, depth: u32) -> String {
        match self.random.random_range(0..4) {
            0 => self.any_long(),
            1 => format!("at[{}]", self.index()),
            2 => format!("({} + {})", self.any_long(), self.int(depth.saturating_sub(1))),
            _ => format!("{}->next", self.any_node()),
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let below = depth.saturating_sub(1);
        match self.random.random_range(0..6) {
            0 if depth > 0 => format!("({} && {})", self.condition(below), self.condition(below)),
            1 if depth > 0 => format!("({} || {})", self.condition(below), self.condition(below)),
            2 => format!("{}->leaf", self.any_node()),
            3 => format!("({} != {})", self.any_node(), self.any_node()),
            _ => {
                let compare = self.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({} {compare} {})", self.int(below), self.int(below))
            }
        }
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.text.push_str("    ");
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Adds a block with some statements; variables declared in it go out of scope after it.
    fn block(&mut self, head: &str, tail: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        let scope = (self.ints.len(), self.longs.len(), self.nodes.len(), self.vectors.len());
        for _ in 0..self.random.random_range(1..4) {
            self.statement();
        }
        self.ints.truncate(scope.0);
        self.longs.truncate(scope.1);
        self.nodes.truncate(scope.2);
        self.vectors.truncate(scope.3);
        self.depth -= 1;
        self.line(&format!("}}{tail}"));
    }

    fn statement(&mut self) {
        self.left = self.left.saturating_sub(1);
        let flat = self.depth > DEPTH || self.left == 0;
        match self.random.random_range(if flat { 8 } else { 0 }..27) {
            0 | 1 => {
                let condition = self.condition(2);
                self.block(&format!("if ({condition})"), "");
                if self.random.random_bool(0.5) {
                    self.block("else", "");
                }
            }
            2 | 3 => {
                let (counter, bound, step) =
                    (self.fresh('i'), self.int(1), self.pick(&["++", "--", " += 3", " <<= 1"]));
                let compare = self.pick(&["<", ">", "!=", "<="]);
                let start = self.int(0);
                self.ints.push(counter.clone());
                self.repeat(
                    &format!("for (int {counter} = {start}; {counter} {compare} {bound}; {counter}{step})"),
                    "",
                );
                self.ints.pop();
            }
            4 => {
                let condition = self.condition(2);
                self.repeat(&format!("while ({condition})"), "");
            }
            5 => {
                let condition = self.condition(1);
                self.repeat("do", &format!(" while ({condition});"));
            }
            6 => self.switch(),
            7 => {
                let node = self.any_node();
                let next = self.index();
                self.repeat(&format!("for (; {node} != nodes; {node} = &nodes[{next}])"), "");
            }
            8 if self.loops > 0 => {
                let (condition, what) = (self.condition(1), self.pick(&["break;", "continue;"]));
                self.line(&format!("if ({condition}) {what}"));
            }
            9 if self.depth > 1 && self.random.random_bool(0.4) => {
                let condition = self.condition(1);
                let returns = self.returns;
                self.line(&format!("if ({condition}) {returns}"));
            }
            10 | 11 if !self.in_helper || self.random.random_bool(0.3) => {
                let flags = self.pick(&[
                    "CLK_LOCAL_MEM_FENCE",
                    "CLK_GLOBAL_MEM_FENCE",
                    "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE",
                ]);
                self.line(&format!("barrier({flags});"));
            }
            12 => {
                let (name, value) = (self.fresh('i'), self.int(2));
                self.line(&format!("int {name} = {value};"));
                self.ints.push(name);
            }
            13 => {
                let (name, value) = (self.fresh('l'), self.long(2));
                self.line(&format!("long {name} = {value};"));
                self.longs.push(name);
            }
            14 => {
                let (name, index, condition, other) =
                    (self.fresh('q'), self.index(), self.condition(1), self.any_node());
                self.line(&format!("__global node_t *{name} = {condition} ? &nodes[{index}] : {other} + 1;"));
                self.nodes.push(name);
            }
            15 => {
                let (long, value) = (self.any_long(), self.long(2));
                self.line(&format!("{long} = {value};"));
            }
            16 => {
                let (place, step) = (self.place(), self.pick(&["++", "--"]));
                self.line(&format!("{place}{step};"));
            }
            17 => {
                let (node, index) = (self.any_node(), self.index());
                self.line(&format!("{node} = &nodes[{index}];"));
            }
            18 if !self.in_helper => self.memory(),
            19 if !self.in_helper => {
                let vector = self.one_of(&|g| g.vectors.clone());
                let (index, value) = (self.index(), self.int(1));
                let line = match self.random.random_range(0..4) {
                    0 => format!("{vector} = v[{index}] * {value};"),
                    1 => format!("{vector}.{} = {value};", self.pick(&["x", "z", "s3"])),
                    2 => format!("v[{index}] = {vector} > {value};"),
                    _ => format!("vstore4({vector}.wzyx, {index}, a);"),
                };
                self.line(&line);
            }
            20 if !self.in_helper => {
                let (index, value) = (self.index(), self.int(1));
                let line = match self.random.random_range(0..4) {
                    0 => format!("f[{index}] = sqrt(y) + {value};"),
                    1 => format!("y = y < f[{index}] ? y * 2.0f : fmin(y, {value}.0f + x);").replace("(", "("),
                    2 => format!("atomic_inc(&u[{index}]);"),
                    _ => format!("nodes[{index}].in[1].f = (float2)(y, x);"),
                };
                let line = line.replace(&format!("{value}.0f"), &format!("(float)({value})"));
                self.line(&line);
            }
            _ => {
                let (place, value) = (self.place(), self.int(3));
                let operator = self.pick(&["=", "=", "=", "+=", "-=", "*=", "/=", "&=", "^=", "<<=", "%="]);
                self.line(&format!("{place} {operator} {value};"));
            }
        }
    }

    fn repeat(&mut self, head: &str, tail: &str) {
        self.loops += 1;
        self.block(head, tail);
        self.loops -= 1;
    }

    fn switch(&mut self) {
        let value = self.int(2);
        self.line(&format!("switch ({value}) {{"));
        // A `break` belongs to the switch; `continue` needs a loop, which the switch hides from `statement`.
        let loops = std::mem::take(&mut self.loops);
        for case in 0..self.random.random_range(1..5) {
            self.block(&format!("case {}:", case * case), "");
            if self.random.random_bool(0.7) {
                self.line("break;");
            }
        }
        if self.random.random_bool(0.6) {
            self.block("default:", "");
        }
        self.loops = loops;
        self.line("}");
    }

    /// Adds copies of whole structs, copies by the group, or fences.
    fn memory(&mut self) {
        let (index, other) = (self.index(), self.index());
        let line = match self.random.random_range(0..6) {
            0 => format!("{{ node_t whole = nodes[{index}]; whole.where++; nodes[{other}] = whole; }}"),
            1 => format!("parts[({index}) & 3] = nodes[{other}].in[0];"),
            2 => format!("nodes[{index}].in[1] = by_value;"),
            3 => format!(
                "{{ event_t e; e = async_work_group_copy(tile, a + ({index}), {other} & 15, 0); wait_group_events(1, &e); }}"
            ),
            4 => "mem_fence(CLK_GLOBAL_MEM_FENCE);".to_owned(),
            _ => format!("{{ int z[3] = {{0}}; z[{index}] = a[{other}]; a[0] += z[1]; }}"),
        };
        self.line(&line);
    }
}
