import type { SigningKeyState } from '@countersign/protocol/oauth/token-keys'
import { limits } from '@countersign/protocol/formats/limits'
import { secondsAfter } from '#platform/clock.ts'
import type { KeyRow } from './store.ts'

type Scheduled = Pick<KeyRow, 'algorithm' | 'version' | 'signsAt'>

/** Until when a key is published: until whatever it signed has expired. Null as long as no key follows it. */
export function publishedUntil(key: Scheduled, all: Scheduled[]): Date | null {
  const end = signsUntil(key, all)
  return end && secondsAfter(end, limits.signingKeyPublishedAfterSeconds)
}

/** What a key does at an instant. */
export function stateOf(key: Scheduled, all: Scheduled[], now: Date): SigningKeyState {
  const end = signsUntil(key, all)
  if (end && end <= now) return 'retired'
  return key.signsAt <= now ? 'signing' : 'published'
}

/** When the first of the keys that follow it begins to sign. */
function signsUntil({ algorithm, version }: Scheduled, all: Scheduled[]): Date | null {
  const followers = all.filter((other) => other.algorithm === algorithm && other.version > version)
  const [first] = followers.map(({ signsAt }) => signsAt).toSorted((one, other) => one.getTime() - other.getTime())
  return first ?? null
}
