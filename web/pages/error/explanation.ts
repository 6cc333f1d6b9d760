import type { ErrorView } from '@countersign/protocol/pages'
import type { Words } from '../../locales/words.ts'

/** What happened and what to do; in the server's own sentence where the pages have none for its code. */
export function explain({ error, description }: Pick<ErrorView, 'error' | 'description'>, words: Pick<Words, 'error'>) {
  const titles: Record<string, string> = words.error.titles
  const hints: Record<string, string> = words.error.hints
  return { title: titles[error] ?? words.error.title, hint: hints[error] ?? description }
}
