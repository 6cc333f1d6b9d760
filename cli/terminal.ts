import { type ConfirmOptions, type TextOptions, confirm, isCancel, password, text } from '@clack/prompts'
import type { Settings } from './settings.ts'

/** An error with a message for the user of the command, printed without a stack. */
export class CliError extends Error {}

/** The user cancelled at a prompt. */
export class CancelledError extends Error {}

/** The data is consistent, but its keys are not trusted. The exit code tells scripts that it is not verified. */
export class Unproved extends CliError {}

/** Reads a value from another machine without trusting its shape. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Checks if the command can prompt: not in a pipe, and not with JSON output. */
export function isInteractive({ json }: Settings): boolean {
  return process.stdin.isTTY && process.stdout.isTTY && !json
}

export async function promptText(options: TextOptions): Promise<string> {
  const answer = await text(options)
  if (isCancel(answer)) throw new CancelledError()
  return answer
}

export async function promptSecret(message: string): Promise<string> {
  const answer = await password({ message })
  if (isCancel(answer)) throw new CancelledError()
  return answer
}

export async function promptConfirmation(options: ConfirmOptions): Promise<boolean> {
  const answer = await confirm(options)
  if (isCancel(answer)) throw new CancelledError()
  return answer
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2))
}

/** Formats rows of cells, each column as wide as its widest cell. */
export function printTable(rows: string[][]): void {
  const shown = rows.map((row) => row.map(stripControlCharacters))
  const widths = shown[0]?.map((_, column) => Math.max(...shown.map((row) => row[column]?.length ?? 0))) ?? []
  for (const row of shown)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}

/** Removes control characters, so that text of others cannot control the terminal. */
export function stripControlCharacters(words: string): string {
  return words.replaceAll(/\p{Cc}+/gu, ' ')
}
