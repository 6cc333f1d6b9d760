import type { documentMessages as en } from '../../en/pages/documents.ts'
import { plural } from '../../plural.ts'

/** Holds the messages about what an organization is asked to sign. */
export const documentMessages: typeof en = {
  title: 'Dokumente',
  lead: (organization) => `Was ${organization} für Apps unterschreiben soll.`,
  states: { waiting: 'Offen', signed: 'Unterschrieben', all: 'Alle' },
  show: 'Welche Dokumente',
  empty: {
    waiting: {
      title: 'Nichts wartet auf eine Unterschrift',
      what:
        'Wenn eine App eure Unterschrift anfragt, finden Mitglieder den Text hier, wenn sie unterschreiben oder ' +
        'freigeben dürfen.',
    },
    signed: {
      title: 'Noch nichts unterschrieben',
      what: 'Was eure Organisation unterschrieben hat, bleibt hier, mit den Belegen.',
    },
    all: {
      title: 'Noch keine Dokumente',
      what: 'Apps, die eure Organisation verwendet, können Unterschriften anfragen. Die Anfragen stehen hier.',
    },
  },
  untitled: 'Text ohne Titel',
  hidden: 'Den Text sieht nur, wer unterschreiben oder freigeben darf',
  requestedAt: (time) => `angefragt ${time}`,
  left: (time) => `noch ${time}`,
  status: { pending: 'Offen', signed: 'Unterschrieben', denied: 'Abgelehnt', expired: 'Abgelaufen' },
  signatures: 'Unterschriften',
  signaturesOf: (count, needed) =>
    plural('de', needed, {
      one: `${count} von 1 Unterschrift`,
      other: `${count} von ${needed} Unterschriften`,
    }),
  whoMay: (signers, approvers, needed) =>
    needed === 0
      ? plural('de', signers, {
          one: '1 Mitglied darf unterschreiben',
          other: `Eines von ${signers} Mitgliedern unterschreibt`,
        })
      : plural('de', needed, {
          one: `1 von ${signers} unterschreibt, 1 von ${approvers} anderen gibt frei`,
          other: `1 von ${signers} unterschreibt, ${needed} von ${approvers} anderen geben frei`,
        }),
  did: { sign: 'Unterschrieben', approve: 'Freigegeben' },
  open: { sign: 'Unterschrift fehlt', approve: 'Freigabe fehlt' },
  missing: (count) => plural('de', count, { one: '1 Freigabe', other: `${count} Freigaben` }),
  former: 'Früheres Mitglied',
  read: 'Lesen und unterschreiben',
  readAgain: 'Öffnen',
  readOf: (title, app) => `Lesen und unterschreiben: „${title}“ von ${app}`,
  openOf: (title, app) => `Öffnen: „${title}“ von ${app}`,
  receipt: 'Beleg',
  receiptOf: (title) => `Beleg für „${title}“`,
  columns: { title: 'Dokument', app: 'App', signatures: 'Unterschriften', ended: 'Datum', status: 'Status' },
  more: 'Mehr anzeigen',
  retry: 'Erneut versuchen',
}
