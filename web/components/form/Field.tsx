import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { type IdentityDraft, mayBecomeHandle, problemsOf } from '../../lib/text/identity-draft.ts'
import { useMessages } from '../frame/Root.tsx'
import { Icon } from '../ui/Icon.tsx'
import { useAvailability } from './use-availability.ts'

type FieldProps = {
  name: string
  label: string
  value: string
  onInput: (value: string) => void
  /** Called when the user has changed the value and leaves the field, or presses Enter. */
  onLeave?: (() => void) | undefined
  /** A problem or confirmation takes its place. Its room stays reserved, so that no button moves. */
  hint?: string
  problem?: string | undefined
  /** Says that the value is good. */
  confirmed?: string | undefined
  autocomplete?: string
  /** Set for values that are copied character by character. */
  exact?: boolean
  /** Set for URLs, codes and secrets, whose characters must be easy to tell apart. */
  isCode?: boolean
  /** Stands in the box before the value. */
  prefix?: string
  /** The keyboard that a phone shows. */
  keys?: 'email' | 'numeric' | 'url'
  /** Set for the field of a step that replaced another step. */
  takesFocus?: boolean
}

/** A labelled text input. */
export function Field({
  name,
  label,
  value,
  onInput,
  onLeave,
  hint,
  problem,
  confirmed,
  autocomplete,
  exact,
  keys,
  isCode = keys === 'url' || keys === 'numeric',
  prefix,
  takesFocus,
}: FieldProps) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (takesFocus) input.current?.focus()
  }, [takesFocus])
  const shown = problem ? 'problem' : confirmed === undefined && hint && 'hint'
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <Affix text={prefix}>
        <input
          class={isCode ? 'input mono' : 'input'}
          ref={input}
          id={id}
          name={name}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          onChange={onLeave}
          autocomplete={autocomplete ?? 'off'}
          autocapitalize={exact ? 'none' : 'words'}
          inputMode={keys}
          autocorrect="off"
          spellcheck={false}
          aria-invalid={problem !== undefined}
          aria-describedby={shown ? `${id}-${shown}` : undefined}
        />
      </Affix>
      <div class="below" data-room={hint}>
        {shown === 'hint' && (
          <p class="hint" id={`${id}-hint`}>
            {hint}
          </p>
        )}
        <div role="alert">
          {problem && (
            <p class="problem" id={`${id}-problem`}>
              {problem}
            </p>
          )}
        </div>
        <div role="status">
          {confirmed && !problem && (
            <p class="said ok">
              <Icon name="circle-check" size="sm" />
              {confirmed}
            </p>
          )}
        </div>
      </div>
    </div>
  )
}

/** Shows a text in the box of an input, before its value. */
function Affix({ text, children }: { text: string | undefined; children: ComponentChildren }) {
  if (text === undefined) return <>{children}</>
  return (
    <div class="affix">
      <span aria-hidden="true">{text}</span>
      {children}
    </div>
  )
}

type IdentityFieldsProps = {
  draft: IdentityDraft
  checked: boolean
  onChange: (draft: IdentityDraft) => void
  /** Set for a new identity: says while the user types whether the username is available. */
  isNew?: boolean
  takesFocus?: boolean
}

/**
 * Shows the two fields of an identity. Reports errors once the user tries to continue, and those of the username when
 * they leave it, or as soon as no further key could correct them.
 */
export function IdentityFields({ draft, checked, onChange, isNew = false, takesFocus = false }: IdentityFieldsProps) {
  const words = useMessages()
  const { handle } = draft
  const problems = problemsOf(draft, words)
  const [isLeft, setLeft] = useState(false)
  const availability = useAvailability(isNew ? handle : '')
  const taken = availability === 'taken' ? words.register.handleTaken : undefined
  const isReported = checked || (isLeft && handle) || !mayBecomeHandle(handle)
  return (
    <>
      <Field
        name="handle"
        label={words.register.handle}
        prefix="@"
        hint={words.register.handleRule}
        value={handle}
        onInput={(typed) => onChange({ ...draft, handle: typed })}
        onLeave={() => {
          setLeft(true)
          onChange({ ...draft, handle: handle.trim() })
        }}
        problem={taken ?? (isReported ? problems.handle : undefined)}
        confirmed={availability === 'available' ? words.register.handleAvailable : undefined}
        takesFocus={takesFocus}
        autocomplete="username"
        exact
      />
      <Field
        name="displayName"
        label={words.register.displayName}
        value={draft.displayName}
        onInput={(displayName) => onChange({ ...draft, displayName })}
        problem={checked ? problems.displayName : undefined}
        autocomplete="name"
      />
    </>
  )
}
