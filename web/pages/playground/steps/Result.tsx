import type { ComponentChildren } from 'preact'
import { Actions } from '../../../components/form/Actions.tsx'
import type { Action } from '../../../components/form/use-actions.ts'
import { Card, Skeleton } from '../../../components/ui/Card.tsx'
import { Note } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import type { DemoApp } from '../Playground.tsx'
import { usePlaygroundWords } from '../words.ts'

export type CheckResult = { key: string; text: string; passed: boolean; note?: ComponentChildren }

type ChecksProps = { of: CheckResult[]; title?: string; children?: ComponentChildren }

/** What was checked, each with its result. By default it was the app that did. */
export function Checks({ of, title, children }: ChecksProps) {
  const words = usePlaygroundWords()
  return (
    <Card title={title ?? words.checks}>
      <ul class="permits checks">
        {of.map(({ key, text, passed, note }) => (
          <li key={key} class={passed ? 'okay' : 'no failed'} data-check={key}>
            <Icon name={passed ? 'circle-check' : 'x'} />
            <span>
              {text}
              <small>{note ?? (passed ? words.passed : words.failed)}</small>
            </span>
          </li>
        ))}
      </ul>
      {children}
    </Card>
  )
}

type StartProps = { app: DemoApp; actions: Action[] }

/** The buttons that start a step, and what came back if it was not what the app requested. */
export function Start({ app: { callback, doing, isRedeeming }, actions }: StartProps) {
  const words = usePlaygroundWords()
  if (isRedeeming) return <Skeleton />
  return (
    <>
      {callback.kind !== 'none' && callback.kind !== 'code' && (
        <Note tone="bad" role="status">
          <h3>{words.refusedTitle}</h3>
          {callback.kind === 'refusal' ? (
            <p>
              {callback.description} <code>{callback.error}</code>
            </p>
          ) : (
            <p>{words[callback.kind]}</p>
          )}
        </Note>
      )}
      <Actions of={actions} doing={doing} />
    </>
  )
}
