import { plural } from '../../plural.ts'
import type { councilMessages as english } from '../../en/pages/council.ts'

/** Holds the messages about the council of an organization, its proposals and its reset. In German. */
export const councilMessages: typeof english = {
  none:
    'Mitglieder, die unterschreiben dürfen, tun das allein. Mit einem Rat braucht jede Unterschrift der Organisation ' +
    'die Freigabe anderer Mitglieder, und ebenso jede Änderung des Rats.',
  founding:
    'Alle Mitglieder, die jetzt unterschreiben oder freigeben dürfen, kommen in den Rat, und alle müssen freigeben. ' +
    'Vergebt und entzieht diese Berechtigungen vorher.',
  found: 'Rat vorschlagen',
  what: (approvals) =>
    plural('de', approvals, {
      one:
        'Nur diese Personen unterschreiben und geben für die Organisation frei. Jede Unterschrift und jede ' +
        'Änderung des Rats braucht 1 Freigabe.',
      other:
        `Nur diese Personen unterschreiben und geben für die Organisation frei. Jede Unterschrift und jede ` +
        `Änderung des Rats braucht ${approvals} Freigaben.`,
    }),
  change: 'Änderung vorschlagen',
  signatories: 'Mitglieder des Rats',
  since: (day) => `seit ${day}`,
  suspended: (day) => `suspendiert seit ${day}`,
  suspend: 'Suspendieren',
  suspendWho: (handle) => `@${handle} suspendieren`,
  restore: 'Rückkehr vorschlagen',
  restoreWho: (handle) => `Rückkehr vorschlagen: @${handle}`,
  candidates: 'Weitere Mitglieder, die unterschreiben oder freigeben dürfen',
  candidatesWhat: 'Sie können es erst, wenn der Rat sie aufgenommen hat.',
  admit: 'Aufnahme vorschlagen',
  admitWho: (handle) => `Aufnahme vorschlagen: @${handle}`,
  proposals: 'Vorschläge',
  noProposals: 'Keine offenen Vorschläge.',
  proposedBy: (who, day) => `Vorgeschlagen von ${who}, gültig bis ${day}.`,
  approvals: (count, needed, who) =>
    who === '' ? `Freigaben: ${count} von ${needed}.` : `Freigaben: ${count} von ${needed} (${who}).`,
  approve: 'Freigeben',
  complete: 'Umsetzen',
  withdraw: 'Zurückziehen',
  unnamed:
    'Einzelheiten dieses Vorschlags lassen sich gerade nicht anzeigen. Öffnet ihn, um die genauen Daten zu sehen.',
  reset: {
    title: 'Den Rat ohne seine Freigabe beenden',
    what:
      'Für den Fall, dass zu wenige Mitglieder des Rats übrig sind. Nach 14 Tagen ohne Einspruch kann ein Inhaber ' +
      'den Rat beenden. Alle Mitglieder des Rats erhalten eine E-Mail, und Belege zeigen das Ende von da an.',
    request: 'Ende des Rats ankündigen',
    pending: (day, last) => `Das Ende des Rats ist angekündigt. Möglich ist es ab ${day}, bis ${last}.`,
    veto: 'Einspruch einlegen',
    complete: 'Rat beenden',
    happened: (day) => `Ein Rat dieser Organisation wurde ohne seine Freigabe beendet: ${day}.`,
    formerTitle: 'Der Rat könnte enden',
    formerWhat: 'Du gehörst zum Rat dieser Organisation und kannst Einspruch gegen sein Ende einlegen.',
    vetoed: 'Du hast Einspruch eingelegt. Der Rat bleibt.',
  },
}
