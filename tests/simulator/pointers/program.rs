//! Random programs of pointers into private memory, as OpenCL C and as what they do.
//!
//! A program is a function of a kernel. It has some arrays, pointers into them, memory that holds pointers, and two
//! words of input, by which it branches, loops and indexes. [`Program::text`] writes it down, one access on a line;
//! [`Program::run`] carries it out on a model in which a pointer knows its variable, and says which lines access memory
//! out of bounds, and what the program returns.

use std::collections::BTreeSet;
use std::fmt::Write;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Variables that are pointers, and cells of memory that hold pointers.
const POINTERS: usize = 4;
const CELLS: usize = 3;

/// What the programs of a kernel may do. Where one of them makes pointers from numbers, the others' variables are
/// treated with the same suspicion, so not all kernels have everything.
#[derive(Debug, Clone, Copy)]
pub struct Features {
    pub numbers: bool,
    pub memory: bool,
    pub allocations: bool,
}

impl Features {
    pub fn random(random: &mut ChaCha8Rng) -> Features {
        let mut flag = || random.random_bool(0.6);
        Features { numbers: flag(), memory: flag(), allocations: flag() }
    }
}

/// The words of input: two small numbers, and one of any size.
#[derive(Debug, Clone, Copy)]
pub struct Input {
    pub a: i32,
    pub b: i32,
    pub c: i64,
}

impl Input {
    pub fn random(random: &mut ChaCha8Rng) -> Input {
        let c = match random.random_range(0..5) {
            0 => random.random_range(-9..9),
            1 => 1 << random.random_range(0..62),
            2 => -(1 << random.random_range(0..62)),
            3 => random.random_range(-70_000..70_000),
            _ => random.random(),
        };
        Input { a: random.random_range(0..7), b: random.random_range(-3..9), c }
    }
}

/// A number, counted in elements.
#[derive(Debug, Clone, Copy)]
enum Number {
    Constant(i64),
    A,
    B,
    C,
    /// The number of the work-item.
    Item,
    /// `a + n`.
    APlus(i64),
}

impl Number {
    fn value(self, input: Input, item: i32) -> i64 {
        match self {
            Number::Constant(n) => n,
            Number::A => input.a.into(),
            Number::B => input.b.into(),
            Number::C => input.c,
            Number::Item => item.into(),
            Number::APlus(n) => i64::from(input.a) + n,
        }
    }

    fn text(self) -> String {
        match self {
            Number::Constant(n) => format!("({n}L)"),
            Number::A => "a".to_owned(),
            Number::B => "b".to_owned(),
            Number::C => "c".to_owned(),
            Number::Item => "(int)get_global_id(0)".to_owned(),
            Number::APlus(n) => format!("(a + ({n}))"),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Condition {
    AAbove(i32),
    BAbove(i32),
    OddItem,
}

impl Condition {
    fn holds(self, input: Input, item: i32) -> bool {
        match self {
            Condition::AAbove(n) => input.a > n,
            Condition::BAbove(n) => input.b > n,
            Condition::OddItem => item % 2 == 1,
        }
    }

    fn text(self) -> String {
        match self {
            Condition::AAbove(n) => format!("a > {n}"),
            Condition::BAbove(n) => format!("b > {n}"),
            Condition::OddItem => "get_global_id(0) & 1".to_owned(),
        }
    }
}

/// How a pointer becomes a number and a pointer again.
#[derive(Debug, Clone, Copy)]
enum Disguise {
    Cast,
    Union,
    Mask,
    Halves,
}

#[derive(Debug, Clone)]
enum Statement {
    /// `p = &v[n]`.
    Take(usize, usize, Number),
    Copy(usize, usize),
    Select(usize, Condition, usize, usize),
    Step(usize, Number),
    /// `p = helper(q, r, n)`: the first or the second, moved.
    Helper(usize, usize, usize, Number),
    /// `exchange(&p, &q)`.
    Exchange(usize, usize),
    Disguise(usize, usize, Disguise, Number),
    /// Cells of memory: put, get, copy all.
    Put(usize, usize),
    Get(usize, usize),
    GetAt(usize, Number),
    CopyCells,
    /// `p = alloca(n)`, filled.
    Allocate(usize, usize),
    /// The same in a loop, of which one iteration's stays.
    AllocateInLoop(usize, usize, u32),
    Read(usize, Number),
    Write(usize, Number, i32),
    ReadTwo(usize, Number),
    WriteTwo(usize, Number, i32),
    /// Copies four elements as a struct.
    CopyFour(usize, usize),
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// A number of iterations below 8.
    Loop(Number, Vec<Statement>),
    Barrier,
}

/// A program.
pub struct Program {
    /// Numbers of elements of the arrays.
    arrays: Vec<usize>,
    statements: Vec<Statement>,
    features: Features,
    allocations: usize,
}

impl Program {
    pub fn random(seed: u64, features: Features) -> Program {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let arrays = (0..random.random_range(2..5)).map(|_| random.random_range(1..9)).collect();
        let mut program = Program { arrays, statements: Vec::new(), features, allocations: 0 };
        let count = random.random_range(4..14);
        program.statements = (0..count).map(|_| program.statement(&mut random, 2)).collect();
        let last = random.random_range(0..POINTERS);
        program.statements.push(Statement::Read(last, Number::Constant(0)));
        program
    }

    fn number(&self, random: &mut ChaCha8Rng) -> Number {
        match random.random_range(0..12) {
            0 => Number::A,
            1 => Number::B,
            2 => Number::C,
            3 => Number::Item,
            4 => Number::APlus(random.random_range(-4..4)),
            5 => Number::Constant([-1, 1 << 31, -(1 << 31), 1 << 40, i64::MAX][random.random_range(0..5)]),
            _ => Number::Constant(random.random_range(-1..6)),
        }
    }

    fn condition(random: &mut ChaCha8Rng) -> Condition {
        match random.random_range(0..3) {
            0 => Condition::AAbove(random.random_range(0..6)),
            1 => Condition::BAbove(random.random_range(0..6)),
            _ => Condition::OddItem,
        }
    }

    fn statement(&mut self, random: &mut ChaCha8Rng, depth: u32) -> Statement {
        let pointer = |random: &mut ChaCha8Rng| random.random_range(0..POINTERS);
        let (p, q, r) = (pointer(random), pointer(random), pointer(random));
        let n = self.number(random);
        loop {
            return match random.random_range(0..30) {
                0..=4 => Statement::Take(p, random.random_range(0..self.arrays.len()), n),
                5 => Statement::Copy(p, q),
                6 | 7 => Statement::Select(p, Program::condition(random), q, r),
                8 => Statement::Step(p, n),
                9 => Statement::Helper(p, q, r, n),
                10 => Statement::Exchange(p, q),
                11 | 12 if self.features.numbers => {
                    let all = [Disguise::Cast, Disguise::Union, Disguise::Mask, Disguise::Halves];
                    Statement::Disguise(p, q, *all.choose(random).unwrap(), n)
                }
                13 if self.features.memory => Statement::Put(random.random_range(0..CELLS), p),
                14 if self.features.memory => Statement::Get(p, random.random_range(0..CELLS)),
                15 if self.features.memory => Statement::GetAt(p, Number::A),
                16 if self.features.memory => Statement::CopyCells,
                17 if self.features.allocations => Statement::Allocate(p, self.allocation()),
                18 if self.features.allocations => {
                    Statement::AllocateInLoop(p, self.allocation(), random.random_range(0..4))
                }
                19 | 20 => Statement::Read(p, n),
                21 | 22 => Statement::Write(p, n, random.random_range(0..1000)),
                23 => Statement::ReadTwo(p, n),
                24 => Statement::WriteTwo(p, n, random.random_range(0..1000)),
                25 => Statement::CopyFour(p, q),
                26 | 27 if depth > 0 => {
                    let condition = Program::condition(random);
                    Statement::If(condition, self.block(random, depth - 1), self.block(random, depth - 1))
                }
                28 if depth > 0 => {
                    let times = if random.random_bool(0.5) { Number::A } else { Number::Constant(3) };
                    Statement::Loop(times, self.block(random, depth - 1))
                }
                29 if depth == 2 => Statement::Barrier,
                _ => continue,
            };
        }
    }

    fn allocation(&mut self) -> usize {
        self.allocations += 1;
        self.allocations
    }

    fn block(&mut self, random: &mut ChaCha8Rng, depth: u32) -> Vec<Statement> {
        (0..random.random_range(1..3)).map(|_| self.statement(random, depth)).collect()
    }

    /// Writes the program as the function `name`. Statements get the lines from `first` on: as many as [`Program::run`]
    /// counts.
    pub fn text(&self, name: &str, text: &mut String) {
        let _ = writeln!(text, "int {name}(int a, int b, long c) {{");
        let mut line = String::from("int sum = 0; ");
        for (number, count) in self.arrays.iter().enumerate() {
            let values: Vec<String> = (0..*count).map(|i| initial(number, i).to_string()).collect();
            let _ = write!(line, "int v{number}[{count}] = {{{}}}; ", values.join(", "));
        }
        for p in 0..POINTERS {
            let _ = write!(line, "int *p{p} = v{}; ", p % self.arrays.len());
        }
        if self.features.memory {
            line.push_str("struct cells s; for (int i = 0; i < 3; i++) s.p[i] = p0; struct cells s2 = s; ");
        }
        let _ = writeln!(text, "{line}");
        self.statements.iter().for_each(|statement| write_statement(statement, text));
        text.push_str("return sum;\n}\n");
    }

    /// Carries the program out.
    pub fn run(&self, input: Input, item: i32) -> Outcome {
        let arrays = self.arrays.iter().enumerate();
        let memory = arrays.map(|(n, count)| (0..*count).map(|i| initial(n, i)).collect()).collect();
        let pointers = std::array::from_fn(|p| Pointer { variable: p % self.arrays.len(), offset: 0 });
        let cells = [[pointers[0]; CELLS]; 2];
        let faults = BTreeSet::new();
        let mut run = Run { input, item, memory, pointers, cells, sum: 0, line: 2, faults };
        run.block(&self.statements);
        Outcome { sum: run.sum, faults: run.faults }
    }
}

/// The first value of an element of an array.
fn initial(array: usize, index: usize) -> i32 {
    (100 * array + 7 * index + 1) as i32
}

/// What a program does.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub sum: i32,
    /// The lines that access memory out of bounds, counted from that with the function's name, which is 0.
    pub faults: BTreeSet<u32>,
}

fn write_statement(statement: &Statement, text: &mut String) {
    let line = match statement {
        Statement::Take(p, v, n) => format!("p{p} = &v{v}[{}];", n.text()),
        Statement::Copy(p, q) => format!("p{p} = p{q};"),
        Statement::Select(p, condition, q, r) => format!("p{p} = ({}) ? p{q} : p{r};", condition.text()),
        Statement::Step(p, n) => format!("p{p} += {};", n.text()),
        Statement::Helper(p, q, r, n) => format!("p{p} = one_of(p{q}, p{r}, a, {});", n.text()),
        Statement::Exchange(p, q) => format!("exchange(&p{p}, &p{q});"),
        Statement::Disguise(p, q, how, n) => {
            let n = n.text();
            match how {
                Disguise::Cast => format!("p{p} = (int *)((ulong)p{q} + 4 * (ulong){n});"),
                Disguise::Union => {
                    format!("{{ union both u; u.p = p0; u.p = p{q}; u.n += 4 * (ulong){n}; p{p} = u.p; }}")
                }
                Disguise::Mask => format!("p{p} = (int *)(((ulong)p{q} ^ (ulong)c) ^ (ulong)c) + {n};"),
                Disguise::Halves => format!(
                    "{{ uint h[2]; h[0] = (uint)(ulong)p{q}; h[1] = (uint)((ulong)p{q} >> 32); p{p} = (int *)((ulong)h[0] | (ulong)h[1] << 32) + {n}; }}"
                ),
            }
        }
        Statement::Put(cell, p) => format!("s.p[{cell}] = p{p};"),
        Statement::Get(p, cell) => format!("p{p} = s.p[{cell}];"),
        Statement::GetAt(p, n) => format!("p{p} = s2.p[{} % 3];", n.text()),
        Statement::CopyCells => "s2 = s;".to_owned(),
        Statement::Allocate(p, number) => {
            format!("p{p} = (int *)__builtin_alloca(4 * (a + 1)); for (int i = 0; i <= a; i++) p{p}[i] = {number} + i;")
        }
        Statement::AllocateInLoop(p, number, kept) => format!(
            "for (int j = 0; j < 4; j++) {{ int *made = (int *)__builtin_alloca(4 * (j + 1)); for (int i = 0; i <= j; i++) made[i] = {number} + i; if (j == {kept}) p{p} = made; }}"
        ),
        Statement::Read(p, n) => format!("sum += p{p}[{}];", n.text()),
        Statement::Write(p, n, value) => format!("p{p}[{}] = sum ^ {value};", n.text()),
        Statement::ReadTwo(p, n) => format!("{{ int2 w = vload2(0, p{p} + {}); sum += w.x - w.y; }}", n.text()),
        Statement::WriteTwo(p, n, value) => format!("vstore2((int2)(sum, {value}), 0, p{p} + {});", n.text()),
        Statement::CopyFour(p, q) => format!("{{ struct four w = *(struct four *)p{q}; *(struct four *)p{p} = w; }}"),
        Statement::If(condition, yes, no) => {
            let _ = writeln!(text, "if ({}) {{", condition.text());
            yes.iter().for_each(|statement| write_statement(statement, text));
            text.push_str("} else {\n");
            no.iter().for_each(|statement| write_statement(statement, text));
            "}".to_owned()
        }
        Statement::Loop(times, block) => {
            let _ = writeln!(text, "for (int t = 0; t < {}; t++) {{", times.text());
            block.iter().for_each(|statement| write_statement(statement, text));
            "}".to_owned()
        }
        Statement::Barrier => "barrier(CLK_LOCAL_MEM_FENCE);".to_owned(),
    };
    text.push_str(&line);
    text.push('\n');
}

/// A pointer, as the model has it; the offset is in elements.
#[derive(Debug, Clone, Copy)]
struct Pointer {
    variable: usize,
    offset: i64,
}

impl Pointer {
    fn moved(self, by: i64) -> Pointer {
        // Addresses are of 64 bits, and an element has 4 bytes.
        Pointer { offset: self.offset.wrapping_add(by) << 2 >> 2, ..self }
    }
}

struct Run {
    input: Input,
    item: i32,
    memory: Vec<Vec<i32>>,
    pointers: [Pointer; POINTERS],
    cells: [[Pointer; CELLS]; 2],
    sum: i32,
    /// That of the next statement.
    line: u32,
    faults: BTreeSet<u32>,
}

impl Run {
    fn block(&mut self, statements: &[Statement]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    /// Passes over statements that are not carried out.
    fn skip(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::If(_, yes, no) => {
                    self.line += 1;
                    self.skip(yes);
                    self.line += 1;
                    self.skip(no);
                }
                Statement::Loop(_, block) => {
                    self.line += 1;
                    self.skip(block);
                }
                _ => {}
            }
            self.line += 1;
        }
    }

    fn number(&self, n: Number) -> i64 {
        n.value(self.input, self.item)
    }

    /// The place of `count` elements from a pointer on; `None`, and a fault, if they are out of bounds.
    fn place(&mut self, at: Pointer, count: usize) -> Option<(usize, usize)> {
        let size = self.memory[at.variable].len();
        let first =
            usize::try_from(at.offset).ok().filter(|first| first.checked_add(count).is_some_and(|end| end <= size));
        if first.is_none() {
            self.faults.insert(self.line);
        }
        first.map(|first| (at.variable, first))
    }

    fn read(&mut self, at: Pointer, count: usize) -> Vec<i32> {
        match self.place(at, count) {
            Some((variable, first)) => self.memory[variable][first..first + count].to_vec(),
            None => vec![0; count],
        }
    }

    fn write(&mut self, at: Pointer, values: &[i32]) {
        if let Some((variable, first)) = self.place(at, values.len()) {
            self.memory[variable][first..first + values.len()].copy_from_slice(values);
        }
    }

    fn allocate(&mut self, number: usize, count: usize) -> Pointer {
        self.memory.push((0..count).map(|i| (number + i) as i32).collect());
        Pointer { variable: self.memory.len() - 1, offset: 0 }
    }

    fn statement(&mut self, statement: &Statement) {
        let (input, item) = (self.input, self.item);
        match statement {
            Statement::Take(p, v, n) => self.pointers[*p] = Pointer { variable: *v, offset: 0 }.moved(self.number(*n)),
            Statement::Copy(p, q) => self.pointers[*p] = self.pointers[*q],
            Statement::Select(p, condition, q, r) => {
                self.pointers[*p] = self.pointers[if condition.holds(input, item) { *q } else { *r }];
            }
            Statement::Step(p, n) => self.pointers[*p] = self.pointers[*p].moved(self.number(*n)),
            Statement::Helper(p, q, r, n) => {
                let chosen = self.pointers[if input.a > 3 { *q } else { *r }];
                self.pointers[*p] = chosen.moved(self.number(*n));
            }
            Statement::Exchange(p, q) => self.pointers.swap(*p, *q),
            Statement::Disguise(p, q, _, n) => self.pointers[*p] = self.pointers[*q].moved(self.number(*n)),
            Statement::Put(cell, p) => self.cells[0][*cell] = self.pointers[*p],
            Statement::Get(p, cell) => self.pointers[*p] = self.cells[0][*cell],
            Statement::GetAt(p, n) => self.pointers[*p] = self.cells[1][(self.number(*n) % 3) as usize],
            Statement::CopyCells => self.cells[1] = self.cells[0],
            Statement::Allocate(p, number) => self.pointers[*p] = self.allocate(*number, input.a as usize + 1),
            Statement::AllocateInLoop(p, number, kept) => {
                self.pointers[*p] = self.allocate(*number, *kept as usize + 1);
            }
            Statement::Read(p, n) => {
                let read = self.read(self.pointers[*p].moved(self.number(*n)), 1);
                self.sum = self.sum.wrapping_add(read[0]);
            }
            Statement::Write(p, n, value) => {
                let value = self.sum ^ value;
                self.write(self.pointers[*p].moved(self.number(*n)), &[value]);
            }
            Statement::ReadTwo(p, n) => {
                let read = self.read(self.pointers[*p].moved(self.number(*n)), 2);
                self.sum = self.sum.wrapping_add(read[0].wrapping_sub(read[1]));
            }
            Statement::WriteTwo(p, n, value) => {
                let values = [self.sum, *value];
                self.write(self.pointers[*p].moved(self.number(*n)), &values);
            }
            Statement::CopyFour(p, q) => {
                let read = self.read(self.pointers[*q], 4);
                self.write(self.pointers[*p], &read);
            }
            Statement::If(condition, yes, no) => {
                self.line += 1;
                let holds = condition.holds(input, item);
                if holds {
                    self.block(yes)
                } else {
                    self.skip(yes)
                }
                self.line += 1;
                if holds { self.skip(no) } else { self.block(no) }
            }
            Statement::Loop(times, block) => {
                let first = self.line + 1;
                for _ in 0..self.number(*times) {
                    self.line = first;
                    self.block(block);
                }
                self.line = first;
                self.skip(block);
            }
            Statement::Barrier => {}
        }
        self.line += 1;
    }
}
