import { useState } from 'preact/hooks'
import { Actions } from '../../components/form/Actions.tsx'
import { Dialog } from '../../components/form/Dialog.tsx'
import { useActions } from '../../components/form/use-actions.ts'
import { toast } from '../../components/frame/toast.ts'
import { Card } from '../../components/ui/Card.tsx'
import { Menu } from '../../components/ui/Menu.tsx'

/** Menus, dialogs and toasts. */
export function Overlays() {
  const doing = useActions()
  const [isOpen, setOpen] = useState(false)
  return (
    <Card title="Overlays" danger>
      <Actions
        of={[
          { name: 'open-dialog', label: 'Open a dialog', look: 'secondary', do: () => setOpen(true) },
          { name: 'toast', label: 'Show a toast', look: 'secondary', do: () => toast('Session ended') },
          {
            name: 'toast-undo',
            label: 'Show a toast with undo',
            look: 'secondary',
            do: () => toast('Session ended', () => toast('Session restored')),
          },
        ]}
        doing={doing}
      />
      <Menu
        label="Example menu"
        items={[
          { label: 'A link', icon: 'external-link', href: '/design' },
          { label: 'Chosen', icon: 'check', pressed: true, onChoose: () => {} },
          'divider',
          { label: 'Delete', icon: 'trash', danger: true, onChoose: () => {} },
        ]}
      />
      {isOpen && (
        <Dialog title="Disconnect Letters & Ledgers?" onClose={() => setOpen(false)}>
          <p>It loses access at once. Signatures you gave it stay valid, and you can connect it again.</p>
          <Actions
            of={[
              { name: 'disconnect', label: 'Disconnect', look: 'danger', do: () => setOpen(false) },
              { name: 'cancel', label: 'Cancel', look: 'secondary', do: () => setOpen(false) },
            ]}
            doing={doing}
          />
        </Dialog>
      )}
    </Card>
  )
}
