import type { ComponentChildren, TargetedSubmitEvent } from 'preact'
import type { Action, ActionState } from './use-actions.ts'
import { Icon } from '../ui/Icon.tsx'
import { ErrorMessage } from './Dialog.tsx'

type Props = { of: Action[]; doing: ActionState; areAnswers?: boolean }

/** Shows the buttons of the actions, and the error of the last one. */
export function Actions({ of, doing, areAnswers = false }: Props) {
  return (
    <div class={areAnswers ? 'actions answers' : 'actions'}>
      <ErrorMessage of={doing.problem} />
      {of.map((action) => (
        <ActionButton key={action.name} action={action} doing={doing} />
      ))}
    </div>
  )
}

type ButtonProps = { action: Action; doing: ActionState; submits?: boolean }

export function ActionButton({ action, doing, submits = false }: ButtonProps) {
  const perform = submits || action.asleep ? undefined : () => void doing.perform(action)
  return (
    <button
      type={submits ? 'submit' : 'button'}
      class={`button ${action.look === 'quiet' ? 'ghost' : (action.look ?? 'primary')}`}
      data-action={action.name}
      data-identity-id={action.identityId}
      data-organization-id={action.organizationId}
      aria-busy={doing.current === action.name}
      aria-disabled={doing.current !== undefined || action.asleep === true}
      onClick={perform}
    >
      {action.icon && <Icon name={action.icon} size="sm" />}
      {action.label}
    </button>
  )
}

type FormProps = { submit: Action; others?: Action[] | undefined; doing: ActionState; children: ComponentChildren }

/** A form. Its button and the Enter key both run its first action. */
export function ActionForm({ submit, others = [], doing, children }: FormProps) {
  const onSubmit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    void doing.perform(submit).then(() => requestAnimationFrame(() => focusFirstInvalid(form)))
  }
  return (
    <form class="form" noValidate onSubmit={onSubmit}>
      {children}
      <div class="actions">
        <ErrorMessage of={doing.problem} />
        <ActionButton action={submit} doing={doing} submits />
        {others.map((action) => (
          <ActionButton key={action.name} action={action} doing={doing} />
        ))}
      </div>
    </form>
  )
}

function focusFirstInvalid(form: HTMLFormElement): void {
  form.querySelector<HTMLInputElement>('[aria-invalid="true"]')?.focus()
}
