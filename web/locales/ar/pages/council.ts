import type { councilMessages as english } from '../../en/pages/council.ts'
import { isolate } from '@countersign/protocol/formats/registries/languages'
import { counted, handleOf, numberOf } from '../format.ts'

const onlyThese = 'لا يوقّع باسم المؤسسة ولا يوافق إلا هؤلاء الأشخاص. كل توقيع، وكل تغيير في المجلس،'

/** Holds the messages about the council of an organization, its proposals and its reset. In Arabic. */
export const councilMessages: typeof english = {
  none:
    'الأعضاء المسموح لهم بالتوقيع يوقّعون بمفردهم. ' +
    'مع المجلس، يحتاج كل توقيع للمؤسسة إلى موافقات آخرين، ولا يستطيع أحد بمفرده تغيير من يقررون.',
  founding:
    'كل الأعضاء المسموح لهم الآن بالتوقيع أو الموافقة يصبحون أعضاء المجلس، وعلى كل منهم أن يوافق. ' +
    'امنح هذه الصلاحيات أو أزلها أولًا.',
  found: 'اقتراح مجلس',
  what: (approvals) =>
    counted(approvals, {
      one: `${onlyThese} يحتاج إلى موافقة واحدة.`,
      two: `${onlyThese} يحتاج إلى موافقتين.`,
      few: `${onlyThese} يحتاج إلى # موافقات.`,
      many: `${onlyThese} يحتاج إلى # موافقة.`,
      other: `${onlyThese} يحتاج إلى # موافقة.`,
    }),
  change: 'اقتراح تغيير',
  signatories: 'أعضاء المجلس',
  since: (day) => `منذ ${isolate(day)}`,
  suspended: (day) => `معلَّق منذ ${isolate(day)}`,
  suspend: 'تعليق',
  suspendWho: (handle) => `تعليق ${handleOf(handle)}`,
  restore: 'اقتراح الإعادة',
  restoreWho: (handle) => `اقتراح إعادة ${handleOf(handle)}`,
  candidates: 'أعضاء آخرون مسموح لهم بالتوقيع أو الموافقة',
  candidatesWhat: 'لا يفعلون ذلك إلا بعد أن يقبلهم المجلس.',
  admit: 'اقتراح القبول',
  admitWho: (handle) => `اقتراح قبول ${handleOf(handle)}`,
  proposals: 'المقترحات',
  noProposals: 'لا توجد مقترحات مفتوحة.',
  proposedBy: (who, day) => `مقدَّم من ${isolate(who)}، وتنتهي صلاحيته ${isolate(day)}.`,
  approvals: (count, needed, who) =>
    who === ''
      ? `الموافقات: ${numberOf(count)} من ${numberOf(needed)}.`
      : `الموافقات: ${numberOf(count)} من ${numberOf(needed)} (${isolate(who)}).`,
  approve: 'موافقة',
  complete: 'إتمام',
  withdraw: 'سحب',
  unnamed: 'لا يمكن عرض تفاصيل هذا المقترح الآن. افتحه لترى البيانات الدقيقة.',
  reset: {
    title: 'إنهاء المجلس دون موافقته',
    what:
      'إذا لم يبقَ إلا عدد قليل جدًا من أعضاء المجلس، فيمكن لأحد المالكين إنهاؤه ' +
      `بعد ${numberOf(14)} يومًا لا يعترض فيها أي منهم. ` +
      'تصل إليهم جميعًا رسالة بريد، وتُظهر الإيصالات ذلك من حينها.',
    request: 'طلب إنهاء المجلس',
    pending: (day, last) => `طُلب إنهاء المجلس. يمكن ذلك من ${isolate(day)} حتى ${isolate(last)}.`,
    veto: 'اعتراض',
    complete: 'إنهاء المجلس',
    happened: (day) => `أُنهي مجلس لهذه المؤسسة دون موافقته في ${isolate(day)}.`,
    formerTitle: 'قد ينتهي المجلس',
    formerWhat: 'أنت أحد أعضاء مجلس هذه المؤسسة، ويمكنك الاعتراض على إنهائه.',
    vetoed: 'لقد اعترضت. يبقى المجلس.',
  },
}
