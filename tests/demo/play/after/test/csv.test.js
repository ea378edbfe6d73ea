import assert from "node:assert/strict";
import { test } from "node:test";

import { toCsv } from "../src/csv.js";

test("the header names the columns", () => {
  assert.equal(toCsv([{ name: "Ada", born: 1815 }]), "name,born\r\nAda,1815\r\n");
});

test("columns can be chosen", () => {
  assert.equal(toCsv([{ a: 1, b: 2 }], ["b"]), "b\r\n2\r\n");
});

test("a missing value is empty", () => {
  assert.equal(toCsv([{ a: null, b: 0 }]), "a,b\r\n,0\r\n");
});

test("a comma is quoted", () => {
  assert.equal(toCsv([{ a: "1,5" }]), 'a\r\n"1,5"\r\n');
});

test("a quote is doubled", () => {
  assert.equal(toCsv([{ a: 'the "best"' }]), 'a\r\n"the ""best"""\r\n');
});

test("a line break is quoted", () => {
  assert.equal(toCsv([{ a: "one\ntwo" }]), 'a\r\n"one\ntwo"\r\n');
});
