import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { useState } from 'preact/hooks'
import { dayOf } from '../../../lib/text/dates.ts'
import { ActionForm, Actions } from '../../../components/form/Actions.tsx'
import { Copies } from '../../../components/display/Copies.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Options } from '../../../components/form/Options.tsx'
import { useSpeech } from '../../../components/frame/Root.tsx'
import { StepHeading } from '../../../components/frame/StepHeading.tsx'
import { act } from '../session/acts.ts'
import type { aboutConnection } from '../session/memberships.ts'
import { useBusinessWords } from '../words.ts'

const path = '/api/organizations/:organizationId/sso-connections/:connectionId/scim-token'

type Props = {
  of: SsoConnection
  given: ReturnType<typeof aboutConnection>
  /** Whether they may make a token: whoever holds it can end memberships, so owners alone. */
  mayMake: boolean
  onChanged: () => unknown
  onClose: () => void
}

/** That a directory says who may join by a connection: the token with which it does, made, replaced and removed. */
export function Directory({ onChanged, onClose, ...asked }: Props) {
  const { directory: words } = useBusinessWords()
  const [told, setTold] = useState<Told>()
  return (
    <Dialog title={words.title} onClose={onClose}>
      {told ? (
        <Token of={told} onClose={onClose} />
      ) : (
        <Question
          {...asked}
          onMade={async (made) => {
            setTold(made)
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

/** A token that has just been made. It is in the memory of this question alone. */
type Told = { token: string; address: string }

type QuestionProps = Omit<Props, 'onChanged'> & { onMade: (told: Told) => unknown; onRemoved: () => unknown }

function Question({ of: { scim }, given, mayMake, onMade, onRemoved, onClose }: QuestionProps) {
  const { directory: words } = useBusinessWords()
  const { words: said, language } = useSpeech()
  const doing = useDoing()
  const [subjectBy, setSubjectBy] = useState(scim?.subjectBy ?? 'externalId')
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
          <Options
            name="subjectBy"
            legend={words.by}
            of={(['externalId', 'email'] as const).map((value) => ({ value, ...words.ways[value] }))}
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

function Token({ of: { token, address }, onClose }: { of: Told; onClose: () => void }) {
  const words = useBusinessWords()
  const doing = useDoing()
  const done: Action = { name: 'scim-token-saved', label: words.done, do: onClose }
  const both = [
    { label: words.directory.address, value: address, action: 'copy-scim-address' },
    { label: words.directory.token, value: token, action: 'copy-scim-token' },
  ]
  return (
    <>
      <StepHeading level={3}>{words.directory.told}</StepHeading>
      <Copies of={both} />
      <Actions of={[done]} doing={doing} />
    </>
  )
}
