import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { useState } from 'preact/hooks'
import { dayOf } from '../../../lib/text/dates.ts'
import { ActionForm, Actions } from '../../../components/form/Actions.tsx'
import { CopyableFields } from '../../../components/display/Copies.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { act } from '../session/acts.ts'
import { useReopenedNote } from '../session/ReturnedActNote.tsx'
import { rebaseValue, useKeptState } from '../session/kept-input.ts'
import type { connectionRef } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'

const path = '/api/organizations/:organizationId/sso-connections/:connectionId/scim-token'

type Props = {
  of: SsoConnection
  given: ReturnType<typeof connectionRef>
  /** True if the user may create a token. Only owners may, because its holder can end memberships. */
  mayMake: boolean
  onChanged: () => unknown
  onClose: () => void
}

/** Creates, replaces and removes the token of the directory of a connection. */
export function ScimToken({ onChanged, onClose, ...properties }: Props) {
  const { directory: words } = useBusinessMessages()
  const [issued, setIssued] = useState<IssuedScimToken>()
  const note = useReopenedNote(`directory-${properties.of.connectionId}`)
  return (
    <Dialog title={words.title} {...(!issued && { onClose })}>
      {!issued && note}
      {issued ? (
        <Token of={issued} onClose={onClose} />
      ) : (
        <Question
          {...properties}
          onMade={async (made) => {
            setIssued(made)
            await onChanged()
          }}
          onRemoved={async () => {
            onClose()
            await onChanged()
          }}
          onClose={onClose}
        />
      )}
    </Dialog>
  )
}

/** A token that was just created. Only the memory of this dialog holds it. */
type IssuedScimToken = { token: string; address: string }

type QuestionProps = Omit<Props, 'onChanged'> & {
  onMade: (issued: IssuedScimToken) => unknown
  onRemoved: () => unknown
}

function Question({ of: { connectionId, scim }, given, mayMake, onMade, onRemoved, onClose }: QuestionProps) {
  const { directory: words } = useBusinessMessages()
  const { words: said, language } = useLocale()
  const doing = useActions()
  const name = `directory-${connectionId}.subjectBy` as const
  const present = scim?.subjectBy ?? 'externalId'
  const [subjectBy, setSubjectBy] = useKeptState<SubjectBy>(name, present, isSubjectBy, rebaseValue)
  const make: Action = {
    name: 'make-scim-token',
    label: scim ? words.replace : words.make,
    do: async () => {
      const { token, connection } = await act(`POST ${path}`, { ...given, body: { subjectBy } })
      await onMade({ token, address: connection.scim?.baseUrl ?? '' })
    },
  }
  const remove: Action = {
    name: 'remove-scim-token',
    label: words.remove,
    look: mayMake ? 'secondary' : 'primary',
    do: async () => {
      await act(`DELETE ${path}`, { ...given, body: null })
      await onRemoved()
    },
  }
  const cancel: Action = { name: 'cancel', label: said.frame.cancel, look: 'quiet', do: onClose }
  const others = scim ? [remove, cancel] : [cancel]
  return (
    <>
      <p>{words.what}</p>
      {scim && <p>{words.made(dayOf(scim.tokenCreatedAt, language, new Date()))}</p>}
      {mayMake ? (
        <ActionForm submit={make} others={others} doing={doing}>
          <RadioGroup
            name="subjectBy"
            legend={words.by}
            of={subjects.map((value) => ({ value, ...words.ways[value] }))}
            chosen={[subjectBy]}
            onChoose={setSubjectBy}
          />
        </ActionForm>
      ) : (
        <Actions of={others} doing={doing} />
      )}
    </>
  )
}

const subjects = ['externalId', 'email'] as const
type SubjectBy = (typeof subjects)[number]

function isSubjectBy(value: unknown): value is SubjectBy {
  return value === 'externalId' || value === 'email'
}

function Token({ of: { token, address }, onClose }: { of: IssuedScimToken; onClose: () => void }) {
  const words = useBusinessMessages()
  const doing = useActions()
  const done: Action = { name: 'scim-token-saved', label: words.done, do: onClose }
  const both = [
    { label: words.directory.address, value: address, action: 'copy-scim-address' },
    { label: words.directory.token, value: token, action: 'copy-scim-token' },
  ]
  return (
    <>
      <StepHeading level={3}>{words.directory.issued}</StepHeading>
      <CopyableFields of={both} />
      <Actions of={[done]} doing={doing} />
    </>
  )
}
