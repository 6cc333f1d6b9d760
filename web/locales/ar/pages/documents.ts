import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { documentMessages as english } from '../../en/pages/documents.ts'
import { counted, numberOf } from '../format.ts'

/** Holds the messages about what an organization is asked to sign. In Arabic. */
export const documentMessages: typeof english = {
  title: 'المستندات',
  lead: (organization) => `ما تطلب التطبيقات من ${isolate(organization)} توقيعه.`,
  states: { waiting: 'قيد الانتظار', signed: 'موقّعة', all: 'الكل' },
  show: 'المستندات المعروضة',
  empty: {
    waiting: {
      title: 'لا شيء ينتظر توقيعًا',
      what: 'عندما يطلب تطبيق توقيع مؤسستكم، يجد الأعضاء المسموح لهم بالتوقيع أو الموافقة النص هنا.',
    },
    signed: {
      title: 'لا شيء موقّع بعد',
      what: 'ما وقّعته مؤسستكم يبقى هنا مع إيصالاته.',
    },
    all: {
      title: 'لا توجد مستندات بعد',
      what: 'يمكن للتطبيقات التي تستخدمها مؤسستكم أن تطلب توقيعها. يظهر ما تطلبه هنا.',
    },
  },
  untitled: 'نص بلا عنوان',
  hidden: 'لا يرى النص إلا الأعضاء المسموح لهم بالتوقيع أو الموافقة',
  requestedAt: (time) => `وقت الطلب: ${isolate(time)}`,
  left: (time) => `بقي ${isolate(time)}`,
  status: { pending: 'قيد الانتظار', signed: 'موقّع', denied: 'مرفوض', expired: 'منتهي الصلاحية' },
  signatures: 'التوقيعات',
  signaturesOf: (count, needed) => `التوقيعات: ${numberOf(count)} من ${numberOf(needed)}`,
  whoMay: (signers, approvers, needed) =>
    needed === 0
      ? counted(signers, {
          one: 'يمكن لعضو واحد التوقيع',
          two: 'يمكن لأي من عضوين التوقيع',
          few: 'يمكن لأي من # أعضاء التوقيع',
          many: 'يمكن لأي من # عضوًا التوقيع',
          other: 'يمكن لأي من # عضو التوقيع',
        })
      : `التوقيع: واحد من ${numberOf(signers)}، وموافقات الآخرين: ${numberOf(needed)} من ${numberOf(approvers)}`,
  did: { sign: 'تم التوقيع', approve: 'تمت الموافقة' },
  open: { sign: 'ينقص التوقيع', approve: 'تنقص الموافقة' },
  missing: (count) =>
    counted(count, { one: 'موافقة واحدة', two: 'موافقتان', few: '# موافقات', many: '# موافقة', other: '# موافقة' }),
  former: 'عضو سابق',
  read: 'القراءة والتوقيع',
  readAgain: 'فتح',
  readOf: (title, app) => `قراءة «${isolate(title)}» من ${isolate(app)} وتوقيعه`,
  openOf: (title, app) => `فتح «${isolate(title)}» من ${isolate(app)}`,
  receipt: 'الإيصال',
  receiptOf: (title) => `إيصال «${isolate(title)}»`,
  columns: { title: 'المستند', app: 'التطبيق', signatures: 'التوقيعات', ended: 'التاريخ', status: 'الحالة' },
  more: 'عرض المزيد',
  retry: 'إعادة المحاولة',
}
