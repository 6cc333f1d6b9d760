/** Beginnings of a cell that a spreadsheet interprets as a formula, also in full width. */
const formula = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/

/**
 * Formats a record of a CSV file (RFC 4180 §2), with quotes around each field. Text that a spreadsheet would interpret
 * as a formula gets a leading apostrophe.
 */
export function csvRecord(fields: readonly string[]): string {
  const cells = fields.map((text) => (formula.test(text) ? `'${text}` : text))
  return `${cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(',')}\r\n`
}
