import { isLanguage, type Language, languageTags } from '@countersign/protocol/formats/registries/languages'
import { isUuid } from '@countersign/protocol/values'
import { InvalidArgumentError } from 'commander'

/** Collects the values of a repeatable option. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value]
}

/** Collects the IDs of a repeatable option, in the form that the service writes them. */
export function collectIds(value: string, before: string[] = []): string[] {
  const id = value.toLowerCase()
  if (!isUuid(id)) throw new InvalidArgumentError('Give an ID.')
  return [...before, id]
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
