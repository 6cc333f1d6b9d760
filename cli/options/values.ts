import { isLanguage, type Language, languageTags } from '@countersign/protocol/formats/registries/languages'
import { InvalidArgumentError } from 'commander'

/** Collects the values of a repeatable option. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value]
}

export function parseLanguage(text: string): Language {
  if (!isLanguage(text)) throw new InvalidArgumentError(`Languages are ${languageTags.join(', ')}.`)
  return text
}

/** Parses the number of an event of the audit log after which something begins; 0 is before the first. */
export function parsePlaceBefore(text: string): number {
  if (!/^(0|[1-9][0-9]{0,14})$/.test(text)) throw new InvalidArgumentError('Give a number from 0.')
  return Number(text)
}
