//! fio's keywords (`$pagesize`, `$mb_memory`, `$ncpus`) and what `bc` makes of a value with one of them: whole divisions,
//! and as many decimals of a product as the longer factor has.

use super::error::ValueFault;

/// What stands for a number of the machine.
pub const KEYWORDS: [&str; 3] = ["$pagesize", "$mb_memory", "$ncpus"];

/// Replace keywords by what `lookup` says of them, and work out what they stand in. Values without one stay as they are.
pub fn replace(value: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, ValueFault> {
    let mut replaced = value.to_string();
    for keyword in KEYWORDS.into_iter().filter(|keyword| value.contains(*keyword)) {
        let number = lookup(keyword).ok_or(ValueFault::UnknownKeyword { keyword })?;
        replaced = replaced.replace(keyword, &number);
    }
    if replaced == value || !replaced.contains(['+', '-', '*', '/', '%', '^', '(', ')']) {
        return Ok(replaced);
    }
    let wrong = || ValueFault::NoArithmetic { value: value.into(), replaced: replaced.clone() };
    let mut reader = Reader { rest: &replaced };
    let number = reader.sum(0).filter(|_| reader.rest.trim().is_empty()).ok_or_else(wrong)?;
    match number.whole() {
        Some(whole) if whole >= 0 => Ok(whole.to_string()),
        Some(number) => Err(ValueFault::BelowZero { value: value.into(), number }),
        None => Err(ValueFault::NotWhole { value: value.into() }),
    }
}

/// `mantissa` divided by ten to the power of `scale`.
#[derive(Clone, Copy, Debug)]
struct Decimal {
    mantissa: i128,
    scale: u32,
}

impl Decimal {
    fn whole(self) -> Option<i128> {
        let unit = 10i128.checked_pow(self.scale)?;
        (self.mantissa % unit == 0).then(|| self.mantissa / unit)
    }

    /// With so many decimals, the others cut off.
    fn scaled(self, scale: u32) -> Option<Decimal> {
        let mantissa = if scale >= self.scale {
            self.mantissa.checked_mul(10i128.checked_pow(scale - self.scale)?)?
        } else {
            self.mantissa / 10i128.checked_pow(self.scale - scale)?
        };
        Some(Decimal { mantissa, scale })
    }

    fn with(self, operator: char, other: Decimal) -> Option<Decimal> {
        let scale = self.scale.max(other.scale);
        let (a, b) = (self.scaled(scale)?.mantissa, other.scaled(scale)?.mantissa);
        match operator {
            '+' => Some(Decimal { mantissa: a.checked_add(b)?, scale }),
            '-' => Some(Decimal { mantissa: a.checked_sub(b)?, scale }),
            '*' => Decimal { mantissa: self.mantissa.checked_mul(other.mantissa)?, scale: self.scale + other.scale }
                .scaled(scale.min(self.scale + other.scale)),
            '/' => Some(Decimal { mantissa: a.checked_div(b)?, scale: 0 }),
            '%' => Some(Decimal { mantissa: a.checked_rem(b)?, scale }),
            '^' => {
                let exponent = u32::try_from(other.whole()?).ok()?;
                let mantissa = self.mantissa.checked_pow(exponent)?;
                Decimal { mantissa, scale: self.scale.checked_mul(exponent)? }.scaled(self.scale)
            }
            _ => None,
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

/// Brackets in brackets.
const MAX_DEPTH: u32 = 64;

impl Reader<'_> {
    fn take(&mut self, of: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let sign = self.rest.chars().next().filter(|sign| of.contains(sign))?;
        self.rest = &self.rest[sign.len_utf8()..];
        Some(sign)
    }

    fn sum(&mut self, depth: u32) -> Option<Decimal> {
        let mut sum = self.product(depth)?;
        while let Some(operator) = self.take(&['+', '-']) {
            sum = sum.with(operator, self.product(depth)?)?;
        }
        Some(sum)
    }

    fn product(&mut self, depth: u32) -> Option<Decimal> {
        let mut product = self.power(depth)?;
        while let Some(operator) = self.take(&['*', '/', '%']) {
            product = product.with(operator, self.power(depth)?)?;
        }
        Some(product)
    }

    /// Powers are taken from the right.
    fn power(&mut self, depth: u32) -> Option<Decimal> {
        let base = self.term(depth)?;
        match self.take(&['^']) {
            Some(operator) if depth < MAX_DEPTH => base.with(operator, self.power(depth + 1)?),
            Some(_) => None,
            None => Some(base),
        }
    }

    fn term(&mut self, depth: u32) -> Option<Decimal> {
        if depth >= MAX_DEPTH {
            return None;
        }
        if self.take(&['-']).is_some() {
            let of = self.term(depth + 1)?;
            return Some(Decimal { mantissa: -of.mantissa, ..of });
        }
        if self.take(&['(']).is_some() {
            let sum = self.sum(depth + 1)?;
            return self.take(&[')']).map(|_| sum);
        }
        let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        self.rest = rest;
        let mantissa = format!("{whole}{fraction}").parse().ok()?;
        Some(Decimal { mantissa, scale: fraction.len() as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(value: &str) -> Result<String, ValueFault> {
        replace(value, &|keyword| Some(if keyword == "$pagesize" { "4096" } else { "2" }.to_string()))
    }

    #[test]
    fn arithmetic_with_a_keyword_is_what_bc_says() {
        let read = |value: &str| replaced(value).unwrap();
        assert_eq!(read("8192*$pagesize"), "33554432");
        assert_eq!(read("$pagesize*3/2"), "6144");
        assert_eq!(read("3/2*$pagesize"), "4096");
        assert_eq!(read("1.5*$pagesize"), "6144");
        assert_eq!(read("($pagesize+4096)*2"), "16384");
        assert_eq!(read("2^3*$pagesize"), "32768");
        assert_eq!(read("-1*-$pagesize"), "4096");
        assert_eq!(read("$pagesize%1000"), "96");
        assert_eq!(read("$ncpus*$mb_memory"), "4");
        assert_eq!(read("$pagesize"), "4096");
        assert_eq!(read("$pagesizek"), "4096k");
        assert_eq!(read("8192*2"), "8192*2");
    }

    #[test]
    fn what_bc_does_not_read_is_no_number() {
        for value in [
            "4k*$pagesize",
            "$pagesize+",
            "$pagesize-64k",
            "$pagesize**2",
            "$pagesize/0",
            "($pagesize",
            "$pagesize*1.00001",
            "1-$pagesize",
            "9^999*$pagesize",
        ] {
            assert!(replaced(value).is_err(), "{value}");
        }
    }
}
