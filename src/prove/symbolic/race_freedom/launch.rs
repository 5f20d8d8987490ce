//! Sizes of launches and ids of work-items as integers (OpenCL C 1.2, 6.12.1).

use super::kernel::Kernel;
use super::scope::{Item, Scope, Shape};
use crate::program::ids::Id;
use crate::solve::integers::{Fact, Integers, Polynomial, Range};

/// Sizes and ids are below this number, which no device comes near.
const LIMIT: i128 = 1 << 31;

/// The sizes of a launch, by dimension.
pub struct Launch {
    scope: Scope,
    has_offset: bool,
    local: [Polynomial; 3],
    groups: [Polynomial; 3],
    global: [Polynomial; 3],
    offset: [Polynomial; 3],
}

fn number(n: u64) -> Polynomial {
    Polynomial::constant(i128::from(n))
}

fn name(what: &str, d: usize) -> String {
    format!("{what}({d})")
}

impl Launch {
    /// The sizes of the launches that are asked about.
    pub fn new(kernel: &Kernel<'_>, shape: Shape, scope: Scope, integers: &mut Integers) -> Launch {
        let mut launch = Launch {
            scope,
            // CUDA's grids have none.
            has_offset: !kernel.program.skips_returned,
            local: Default::default(),
            groups: Default::default(),
            global: Default::default(),
            offset: Default::default(),
        };
        let local = shape.local.or(kernel.interface.required_local);
        for d in 0..3 {
            launch.dimension(kernel.dimensions[d], d, local.map(|s| s[d]), shape.groups.map(|s| s[d]), integers);
        }
        if let Some(most) = kernel.interface.max_group {
            let product = (0..3).fold(number(1), |product, d| integers.multiply(&product, &launch.local[d]));
            let within = integers.at_most(&product, &number(most));
            integers.assert(&within);
        }
        launch
    }

    fn dimension(&mut self, used: bool, d: usize, local: Option<u64>, groups: Option<u64>, integers: &mut Integers) {
        if !used && local.is_none_or(|n| n == 1) && groups.is_none_or(|n| n == 1) {
            (self.local[d], self.groups[d], self.global[d]) = (number(1), number(1), number(1));
            return;
        }
        let positive = Range::new(1, LIMIT - 1);
        self.local[d] = local.map_or_else(|| integers.symbol(&name("get_local_size", d), positive), number);
        let most = local.map_or(LIMIT - 1, |n| (LIMIT - 1) / i128::from(n.max(1)));
        self.groups[d] =
            groups.map_or_else(|| integers.symbol(&name("get_num_groups", d), Range::new(1, most.max(1))), number);
        self.global[d] = match (self.local[d].as_symbol(), self.groups[d].as_symbol()) {
            (Some(l), Some(g)) => {
                let global = integers.symbol(&name("get_global_size", d), positive);
                integers.name_product(l, g, global.as_symbol().unwrap_or_default());
                global
            }
            _ => integers.multiply(&self.local[d].clone(), &self.groups[d].clone()),
        };
        if self.has_offset {
            self.offset[d] = integers.symbol(&name("get_global_offset", d), Range::new(0, LIMIT - 1));
        }
    }

    /// An id or a size as a work-item sees it.
    pub fn id(&self, id: Id, d: usize, item: Item, integers: &mut Integers) -> Polynomial {
        match id {
            Id::GlobalSize => self.global[d].clone(),
            Id::LocalSize => self.local[d].clone(),
            Id::Groups => self.groups[d].clone(),
            Id::Offset => self.offset[d].clone(),
            Id::Local => self.below("get_local_id", &self.local[d], d, item.suffix(), integers),
            Id::Group => self.group(d, item, integers),
            Id::Global => {
                let place = self.place(d, item, integers);
                if self.offset[d].is_zero() {
                    return place;
                }
                let value = integers.add(&self.offset[d], &place);
                self.defined("get_global_id", d, item, &value, integers)
            }
        }
    }

    fn group(&self, d: usize, item: Item, integers: &mut Integers) -> Polynomial {
        let suffix = if self.scope == Scope::IntraGroup { "" } else { item.suffix() };
        self.below("get_group_id", &self.groups[d], d, suffix, integers)
    }

    /// The global id without the offset.
    pub fn place(&self, d: usize, item: Item, integers: &mut Integers) -> Polynomial {
        let local = self.id(Id::Local, d, item, integers);
        let group = self.group(d, item, integers);
        let begin = integers.multiply(&group, &self.local[d]);
        let value = integers.add(&begin, &local);
        if value.count() < 2 {
            return value;
        }
        let is_new = !integers.knows(&format!("{}{}", name("place", d), item.suffix()));
        let place = self.defined("place", d, item, &value, integers);
        if is_new {
            integers.name_sum(&value, &place);
            let inside = integers.below(&place, &self.global[d]);
            integers.assert(&inside);
        }
        place
    }

    /// A number below a size.
    fn below(&self, what: &str, size: &Polynomial, d: usize, suffix: &str, integers: &mut Integers) -> Polynomial {
        if size.as_constant() == Some(1) {
            return Polynomial::default();
        }
        let most = size.as_constant().map_or(LIMIT - 2, |n| n - 1);
        let name = format!("{}{suffix}", name(what, d));
        let is_new = !integers.knows(&name);
        let value = integers.symbol(&name, Range::new(0, most));
        if is_new {
            let inside = integers.below(&value, size);
            integers.assert(&inside);
        }
        value
    }

    /// The symbol for a value.
    fn defined(&self, what: &str, d: usize, item: Item, value: &Polynomial, integers: &mut Integers) -> Polynomial {
        let name = format!("{}{}", name(what, d), item.suffix());
        let is_new = !integers.knows(&name);
        let symbol = integers.symbol(&name, Range::new(0, LIMIT - 2));
        if is_new {
            let same = integers.equal(&symbol, value);
            integers.assert(&same);
        }
        symbol
    }

    /// `get_local_linear_id` or `get_global_linear_id`.
    pub fn linear(&self, is_global: bool, item: Item, integers: &mut Integers) -> Polynomial {
        let sizes = if is_global { &self.global } else { &self.local };
        (0..3).rev().fold(Polynomial::default(), |value, d| {
            let id = match is_global {
                true => self.place(d, item, integers),
                false => self.id(Id::Local, d, item, integers),
            };
            let begin = integers.multiply(&value, &sizes[d]);
            integers.add(&begin, &id)
        })
    }

    /// An id or a size of sub-groups (OpenCL C 3.0, 6.15.19): how they are formed is the device's choice, but for
    /// two work-items of a group one of their ids differs.
    pub fn of_sub_group(&self, base: &str, item: Item, integers: &mut Integers) -> Option<Polynomial> {
        let natural = Range::new(0, LIMIT - 2);
        let name = |what: &str| format!("{what}{}", item.suffix());
        Some(match base {
            "get_sub_group_id" => integers.symbol(&name(base), natural),
            "get_sub_group_local_id" => {
                let is_new = !integers.knows(&name(base));
                let id = integers.symbol(&name(base), natural);
                if is_new {
                    let size = self.of_sub_group("get_sub_group_size", item, integers)?;
                    let inside = integers.below(&id, &size);
                    integers.assert(&inside);
                }
                id
            }
            "get_sub_group_size" => {
                let is_new = !integers.knows(&name(base));
                let size = integers.symbol(&name(base), Range::new(1, LIMIT - 1));
                if is_new {
                    let most = self.of_sub_group("get_max_sub_group_size", item, integers)?;
                    let within = integers.at_most(&size, &most);
                    integers.assert(&within);
                }
                size
            }
            "get_max_sub_group_size" => integers.symbol(base, Range::new(1, LIMIT - 1)),
            _ => return None,
        })
    }

    /// That no two work-items of a group have the same place in the same sub-group.
    pub fn have_places_in_sub_groups(&self, integers: &mut Integers) {
        if self.scope == Scope::InterGroup {
            return;
        }
        let mut same = |base: &str| {
            let of = |item: Item, integers: &mut Integers| {
                let is_known = integers.knows(&format!("{base}{}", item.suffix()));
                is_known.then(|| self.of_sub_group(base, item, integers)).flatten()
            };
            let (one, other) = (of(Item::First, integers)?, of(Item::Second, integers)?);
            Some(integers.equal(&one, &other))
        };
        if let (Some(group), Some(place)) = (same("get_sub_group_id"), same("get_sub_group_local_id")) {
            integers.assert(&group.and(&place).negated());
        }
    }

    /// That the two work-items are different ones, of one group or of two.
    pub fn are_two(&self, integers: &mut Integers) -> Fact {
        let differ = |d: usize, integers: &mut Integers| {
            let of = |item: Item, integers: &mut Integers| match self.scope {
                Scope::IntraGroup => self.id(Id::Local, d, item, integers),
                Scope::InterGroup => self.group(d, item, integers),
            };
            let (a, b) = (of(Item::First, integers), of(Item::Second, integers));
            integers.equal(&a, &b).negated()
        };
        Fact::any((0..3).map(|d| differ(d, integers)).collect::<Vec<Fact>>())
    }

    /// A size by its dimension.
    pub fn size(&self, id: Id, d: usize) -> &Polynomial {
        match id {
            Id::LocalSize => &self.local[d],
            Id::Groups => &self.groups[d],
            Id::Offset => &self.offset[d],
            _ => &self.global[d],
        }
    }
}
