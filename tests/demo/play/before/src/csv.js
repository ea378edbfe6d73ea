/** Rows as CSV with a header line, as RFC 4180 describes it. */
export function toCsv(rows, columns = Object.keys(rows[0] ?? {})) {
  const lines = [columns.map(field).join(",")];
  for (const row of rows) {
    lines.push(columns.map((column) => field(row[column])).join(","));
  }
  return lines.map((line) => `${line}\r\n`).join("");
}

function field(value) {
  const text = String(value ?? "");
  return text.includes(",") ? `"${text}"` : text;
}
