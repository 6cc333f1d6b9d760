import type { admissionMessages as english } from '../../../en/pages/sign-in/admission.ts'

/** Holds the messages about what permits a registration. In German. */
export const admissionMessages: typeof english = {
  setup: 'Diesen Dienst betreibt noch niemand. Mit diesem Konto gehört er dir.',
  invited: 'Du bist eingeladen.',
  invitedAs: (email) => `Du bist mit der Adresse ${email} eingeladen.`,
  further: (name, handle) => `Sie kommt zum Konto von ${name} (${handle}).`,
  chosenLead: 'Dein Gerät erstellt einen Passkey, ein Passwort brauchst du nicht.',
  chosen: 'Diese Namen hat der Betreiber festgelegt. Du kannst sie später ändern.',
  addIdentity: 'Identität hinzufügen',
  useTitle: 'Wem gehört der Dienst?',
  use: (name, handle) => `${name} (${handle}) verwenden`,
  refused: {
    registration_closed: { title: 'Registrierung geschlossen', lead: 'Wenn du ein Konto hast, melde dich an.' },
    invitation_required: { title: 'Du brauchst eine Einladung', lead: 'Bitte den Betreiber dieses Dienstes darum.' },
    setup_done: {
      title: 'Schon eingerichtet',
      lead: 'Bitte den Betreiber dieses Dienstes um eine Rolle.',
    },
    setup_link_expired: {
      title: 'Dieser Link ist abgelaufen',
      lead: 'Starte den Dienst neu: Jeder Start erstellt einen neuen Link.',
    },
    invitation_expired: {
      title: 'Diese Einladung ist nicht mehr gültig',
      lead: 'Sie wurde verwendet oder widerrufen oder ist abgelaufen. Bitte um eine neue.',
    },
  },
}
