import type { admissionMessages as english } from '../../../en/pages/sign-in/admission.ts'

/** Holds the messages about what permits a registration. In German. */
export const admissionMessages: typeof english = {
  setup: 'Diesen Dienst betreibt noch niemand. Mit diesem Konto gehört er dir.',
  invited: 'Du bist eingeladen, ein Konto anzulegen.',
  invitedAs: (email) => `Du bist eingeladen, ein Konto anzulegen. Es erhält die Adresse ${email}.`,
  useTitle: 'Wem gehört der Dienst?',
  use: (name, handle) => `${name} (${handle}) verwenden`,
  refused: {
    registration_closed: { title: 'Registrierung geschlossen', lead: 'Wenn du ein Konto hast, melde dich an.' },
    invitation_required: { title: 'Du brauchst eine Einladung', lead: 'Bitte den Betreiber dieses Dienstes darum.' },
    setup_done: {
      title: 'Schon eingerichtet',
      lead: 'Diesen Dienst betreibt schon jemand. Bitte dort um eine Rolle.',
    },
    setup_link_expired: {
      title: 'Dieser Link ist abgelaufen',
      lead: 'Starte den Dienst neu: Jeder Start erzeugt einen neuen Link.',
    },
    invitation_expired: {
      title: 'Diese Einladung gilt nicht mehr',
      lead: 'Sie ist abgelaufen, verwendet oder zurückgezogen. Bitte um eine neue.',
    },
  },
}
