import { type ImportColumn, importColumns, type ImportError } from '@countersign/protocol/accounts/invitations'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { isEmail, normalizeEmail } from '@countersign/protocol/formats/email'
import { isHandle } from '@countersign/protocol/formats/handle'
import { limits } from '@countersign/protocol/formats/limits'
import { isLanguage, type Language, languageTags } from '@countersign/protocol/formats/registries/languages'
import { CsvError, parse } from 'csv-parse/sync'
import { defineErrors } from '#platform/api-error.ts'

const errors = defineErrors({ invalid_import: [400, 'The file is not CSV with the columns of invitations.'] })

/** Row of a file. `faults` say what is wrong in it, apart from what only the database knows. */
export type ImportRow = {
  row: number
  writtenEmail: string
  email: string
  handle: string | null
  displayName: string | null
  groups: string[]
  language: Language | null
  lifetimeSeconds: number
  faults: ImportError[]
}

type Cells = Record<ImportColumn, string>

const daysMax = limits.accountInvitationSecondsMax / (24 * 3600)

/**
 * Parses a file of invitations (RFC 4180): a header with names of columns in any order, then rows. Rows without any
 * text count, but are left out. Throws `invalid_import`.
 */
export function parseImportFile(text: string): ImportRow[] {
  const [header = [], ...records] = parseRecords(text)
  const columns = parseHeader(header)
  const firstRows = new Map<string, number>()
  const rows = records.flatMap((record, index) => {
    const cells = record.map((cell) => cell.trim())
    if (cells.every((cell) => cell === '')) return []
    const row = index + 2
    const parsed = parseRow(row, cells, columns)
    const address = parsed.email.toLowerCase()
    const first = firstRows.get(address)
    if (first === undefined) firstRows.set(address, row)
    else if (address !== '')
      parsed.faults.push({ field: 'email', code: 'duplicate_email', message: `Row ${first} has this address too.` })
    return [parsed]
  })
  if (rows.length === 0) throw errors.invalid_import({ sentence: 'The file has no row after its header.' })
  if (rows.length > limits.invitationImportRowsMax) throw tooManyRows()
  return rows
}

function parseRecords(text: string): string[][] {
  try {
    const records: string[][] = parse(text, { bom: true, relax_column_count: true, to: recordsMax + 1 })
    if (records.length <= recordsMax) return records
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const line = Number(error['lines'])
    throw errors.invalid_import({
      sentence: `The file is not CSV (RFC 4180), in line ${Number.isInteger(line) ? line : 1}. Check its quotes.`,
    })
  }
  throw tooManyRows()
}

/** Spreadsheets may write as many empty rows as rows. */
const recordsMax = 2 * limits.invitationImportRowsMax

function tooManyRows() {
  return errors.invalid_import({ sentence: `A file can have at most ${limits.invitationImportRowsMax} rows.` })
}

/** Returns the columns of a header. Throws `invalid_import` if it names others, one twice, or no `email`. */
function parseHeader(header: string[]): ImportColumn[] {
  const known = `The columns are ${importColumns.join(', ')}, separated by commas.`
  const columns = header.map((written) => {
    const name = written.trim()
    const column = importColumns.find((each) => each === name)
    if (column === undefined)
      throw errors.invalid_import({ sentence: `The first row names the column '${name.slice(0, 40)}'. ${known}` })
    return column
  })
  if (new Set(columns).size < columns.length)
    throw errors.invalid_import({ sentence: `The first row names a column twice. ${known}` })
  if (!columns.includes('email'))
    throw errors.invalid_import({ sentence: `The first row does not name the column email. ${known}` })
  return columns
}

function parseRow(row: number, cells: string[], columns: ImportColumn[]): ImportRow {
  const faults: ImportError[] = []
  if (cells.length !== columns.length) {
    const message = `The row has ${cells.length} fields, and the first row has ${columns.length}.`
    faults.push({ field: null, code: 'invalid_row', message })
  }
  const read: Cells = { email: '', handle: '', displayName: '', groups: '', language: '', expiresInDays: '' }
  for (const [index, column] of columns.entries()) read[column] = cells[index] ?? ''
  if (faults.length === 0) faults.push(...faultsOf(read))
  const { email, handle, displayName, language, expiresInDays } = read
  return {
    row,
    writtenEmail: email.slice(0, limits.emailCharactersMax),
    email: isEmail(email) ? normalizeEmail(email) : '',
    handle: handle || null,
    displayName: displayName || null,
    groups: groupsIn(read),
    language: isLanguage(language) ? language : null,
    lifetimeSeconds: expiresInDays === '' ? limits.accountInvitationSecondsDefault : Number(expiresInDays) * 24 * 3600,
    faults,
  }
}

function groupsIn({ groups }: Cells): string[] {
  const keys = groups.split(';').map((key) => key.trim())
  return [...new Set(keys.filter((key) => key !== ''))]
}

function faultsOf(cells: Cells): ImportError[] {
  const { email, handle, displayName, language, expiresInDays } = cells
  const faults: ImportError[] = []
  if (!isEmail(email))
    faults.push({ field: 'email', code: 'invalid_email', message: 'email must be a deliverable e-mail address.' })
  if (handle !== '' && !isHandle(handle)) {
    const message = 'handle must be 3 to 32 letters, digits and . _ - without the @.'
    faults.push({ field: 'handle', code: 'invalid_handle', message })
  }
  if (displayName !== '' && !isDisplayName(displayName)) {
    const message = 'displayName must be 1 to 80 visible characters.'
    faults.push({ field: 'displayName', code: 'invalid_display_name', message })
  }
  if (groupsIn(cells).length > limits.groupsPerInvitationMax) {
    const message = `groups must be at most ${limits.groupsPerInvitationMax} keys, separated by semicolons.`
    faults.push({ field: 'groups', code: 'too_many_groups', message })
  }
  if (language !== '' && !isLanguage(language)) {
    const message = `language must be one of ${languageTags.join(', ')}.`
    faults.push({ field: 'language', code: 'invalid_language', message })
  }
  if (expiresInDays !== '' && !isDays(expiresInDays)) {
    const message = `expiresInDays must be a whole number from 1 to ${daysMax}.`
    faults.push({ field: 'expiresInDays', code: 'invalid_expiry', message })
  }
  return faults
}

function isDays(text: string): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= daysMax
}
