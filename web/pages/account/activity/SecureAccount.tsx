import { call } from '../../../lib/api/call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { toast } from '../../../components/frame/toast.ts'
import { useMessages } from '../words.ts'
import type { SectionProps } from '../account-data.ts'
import type { Section } from '../sections.ts'
import { useAccountWords } from '../words.ts'

type Props = Pick<SectionProps, 'onChange'> & { onGo: (section: Section) => void; onClose: () => void }

/** Leads a user who does not know an event to ending all other sessions, and to their passkeys. */
export function SecureAccount({ onChange, onGo, onClose }: Props) {
  const words = useAccountWords().activity
  const { frame } = useMessages()
  const doing = useActions()
  const goOn = () => {
    onClose()
    onGo('security')
  }
  const end: Action = {
    name: 'end-foreign-sessions',
    label: words.notMeEnd,
    look: 'danger',
    do: async () => {
      await call('DELETE /api/auth/sessions', {})
      onChange((current) => ({ ...current, sessions: current.sessions.filter((session) => session.current) }))
      goOn()
      toast(words.notMeThen)
    },
  }
  const check: Action = { name: 'check-passkeys', label: words.toPasskeys, look: 'secondary', do: goOn }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'ghost', do: onClose }
  return (
    <Dialog title={words.notMeTitle} onClose={onClose}>
      <p>{words.notMeWhat}</p>
      <Actions of={[end, check, cancel]} doing={doing} />
    </Dialog>
  )
}
