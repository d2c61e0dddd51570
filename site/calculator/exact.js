/* Exact numbers: fractions of BigInt. Money and hours never pass through a floating-point number. */
(function (calculator) {
  "use strict";

  function divisor(a, b) {
    while (b) { [a, b] = [b, a % b]; }
    return a < 0n ? -a : a;
  }

  /* A fraction in its lowest terms, its denominator above 0. */
  function fraction(n, d = 1n) {
    if (d < 0n) { [n, d] = [-n, -d]; }
    const common = divisor(n, d);
    return Object.freeze({ n: n / common, d: d / common });
  }

  /* "96.5", "-24" or 96: the text of a decimal number, as JSON holds it. */
  function decimal(text) {
    const found = /^(-?)([0-9]+)(?:\.([0-9]+))?$/.exec(String(text));
    if (!found) { throw new RangeError(String(text)); }
    const [, sign, whole, rest = ""] = found;
    return fraction(BigInt(sign + whole + rest), 10n ** BigInt(rest.length));
  }

  const add = (a, b) => fraction(a.n * b.d + b.n * a.d, a.d * b.d);
  const subtract = (a, b) => fraction(a.n * b.d - b.n * a.d, a.d * b.d);
  const multiply = (a, b) => fraction(a.n * b.n, a.d * b.d);
  const divide = (a, b) => fraction(a.n * b.d, a.d * b.n);

  function compare(a, b) {
    const left = a.n * b.d, right = b.n * a.d;
    return left < right ? -1 : left > right ? 1 : 0;
  }

  function floor(a) {
    const whole = a.n / a.d;
    return a.n < 0n && whole * a.d !== a.n ? whole - 1n : whole;
  }

  const ceil = (a) => -floor(fraction(-a.n, a.d));

  /* 0 or more, to whole cents, half a cent up: "73.33". */
  function cents(amount) {
    const rounded = floor(fraction(amount.n * 200n + amount.d, amount.d * 2n));
    return `${rounded / 100n}.${String(rounded % 100n).padStart(2, "0")}`;
  }

  /* As JSON holds hours: away from 0 at the sixth decimal, so that none shows as 0. */
  function plain(hours) {
    const sign = hours.n < 0n ? "-" : "";
    const millionths = ceil(fraction((sign ? -hours.n : hours.n) * 1000000n, hours.d));
    const rest = String(millionths % 1000000n).padStart(6, "0").replace(/0+$/, "");
    return sign + millionths / 1000000n + (rest && "." + rest);
  }

  /* "2071.00" with the separators of a language, { group, decimal }. */
  function written(text, marks) {
    const [whole, rest] = text.split(".");
    const grouped = whole.replace(/\B(?=(?:[0-9]{3})+$)/g, marks.group);
    return rest === undefined ? grouped : grouped + marks.decimal + rest;
  }

  calculator.exact = Object.freeze({
    fraction, decimal, add, subtract, multiply, divide, compare, floor, ceil, cents, plain, written, zero: fraction(0n),
  });
})(globalThis.calculator ??= {});
