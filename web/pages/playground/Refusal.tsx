import { usePlaygroundWords } from './words.ts'
import type { Callback } from './callback.ts'

type Props = { callback: Exclude<Callback, { kind: 'none' | 'code' }> }

/** What the app was told instead of a code: the words of the protocol, or why it did not believe the answer. */
export function Refusal({ callback }: Props) {
  const words = usePlaygroundWords()
  if (callback.kind !== 'refusal') return <p class="lead">{words[callback.kind]}</p>
  return (
    <>
      <p class="lead">{callback.description}</p>
      <p>
        <code>{callback.error}</code>
      </p>
    </>
  )
}
