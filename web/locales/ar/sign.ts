import type { signMessages as english } from '../en/sign.ts'
import { isolate } from '@countersign/protocol/formats/registries/languages'
import { counted, numberOf } from './format.ts'

/** Holds the messages for signing a text or an admin action. In Arabic. */
export const signMessages: typeof english = {
  sign: {
    title: 'توقيعك',
    asks: 'يطلب توقيعك',
    demonstration: 'هذا عرض تجريبي. لن يُستخدم التوقيع في أي شيء.',
    notConnected: 'لم تستخدم هذا التطبيق من قبل. لا توقّع إلا إذا كنت تعرف سبب طلبه.',
    text: 'النص الذي توقّعه',
    exactly: 'توقّع هذا النص بالضبط',
    lines: (count) => counted(count, { one: 'سطر واحد', two: 'سطران', few: '# أسطر', many: '# سطرًا', other: '# سطر' }),
    checked: 'تم التحقق: لا توجد محارف مخفية أو متشابهة.',
    left: (time) => `بقي ${isolate(time)}`,
    key: (handle, key) => `${isolate(handle)} · مفتاح التوقيع ${isolate(key)}`,
    byPasskey: 'التوقيع بمفتاح المرور',
    about: 'ما يعنيه التوقيع',
    aboutWhat: (app) =>
      `يحصل ${isolate(app)} على هذا النص مع توقيع لا يستطيع إنشاءه إلا مفتاحك. ` +
      'يمكن لأي شخص التحقق منه لاحقًا دون سؤالنا. وتحتفظ أنت بإيصال.',
    timeLeft: 'الوقت المتبقي',
    soonOver: 'بقي أقل من دقيقة',
    sign: 'توقيع',
    deny: 'رفض',
    readOn: 'اقرأ حتى النهاية لتتمكن من التوقيع.',
    unreadable: 'هذا ليس نصًا مقروءًا، بل مجرد رمز. إذا وقّعته فلن تعرف على ماذا توافق.',
    reserved: (service) =>
      `هذا النص ليس موجّهًا إلى الأشخاص، بل رسالة تجعل خدمة ${isolate(service)} نفسها تنفّذ إجراءً، ` +
      'كتغيير مفتاح مثلًا. لا يمكنك توقيعه هنا.',
    news: {
      signatures: 'تغيّرت التوقيعات. راجعها ثم قرّر.',
      key: 'استُبدل مفتاح توقيعك. ستوقّع بالمفتاح الجديد.',
    },
    insist: 'المتابعة على أي حال',
    stopped: 'لم يُوقَّع أي شيء',
    stoppedWhy: {
      statement:
        'تصف الخدمة هذا الطلب بشكل مختلف عمّا رأيته هنا. ' +
        'أعد تحميل الصفحة واقرأه من جديد. إذا تكرر ذلك، فلا توقّع وأبلغ مشغّل الخدمة.',
      changed: 'تغيّر التطبيق أو الطلب أو اسم المستخدم أثناء التوقيع. أعد تحميل الصفحة واقرأه من جديد.',
      clock:
        'تختلف ساعة هذا الجهاز عن ساعة الخدمة بأكثر من عشر دقائق. ' +
        'اضبط تاريخ الجهاز ووقته تلقائيًا، ثم أعد تحميل الصفحة.',
    },
    reload: 'إعادة التحميل',
    codeWhy: 'لا يستطيع أي مفتاح مرور على هذا الجهاز فتح قفل مفتاح التوقيع. أدخل رمز الاسترداد؛ سيبقى صالحًا.',
    whoAreYou: 'سجّل الدخول للمتابعة',
    whoAreYouWhy: 'يطلب أحد التطبيقات توقيعك. سجّل الدخول لترى النص.',
    inAWindow: 'الفتح في نافذة جديدة',
    inAWindowWhy: (service) => `تقرأ وتوقّع في نافذة منفصلة من ${isolate(service)}، حيث لا يمكن لشيء أن يغطي النص.`,
    unknownTitle: 'لا يوجد ما توقّعه هنا',
    unknownWhy: 'هذا الطلب موجّه إلى شخص آخر أو لم يعد موجودًا.',
    ends: {
      signed: 'تم التوقيع',
      denied: 'تم الرفض',
      expired: 'انتهت الصلاحية',
    },
    endsWhat: {
      signed: 'حصل التطبيق على توقيعك.',
      denied: 'أُبلغ التطبيق بأنك رفضت الطلب.',
      expired: 'انتهت صلاحية الطلب دون توقيع. يمكن للتطبيق أن يطلب مرة أخرى.',
    },
    ofOrganization: {
      asks: (organization) => `يطلب توقيع ${isolate(organization)}`,
      notConnected: 'لم يستخدم أي عضو هذا التطبيق باسم المؤسسة. لا توقّع إلا إذا كنت تعرف سبب طلبه.',
      approve: 'موافقة',
      by: {
        sign: (handle) => `بتوقيع ${isolate(handle)}`,
        approve: (handle) => `بموافقة ${isolate(handle)}`,
      },
      approvals: (count, needed) => `الموافقات: ${numberOf(count)} من ${numberOf(needed)}`,
      did: {
        sign: (who) => `توقيع ${isolate(who)}`,
        approve: (who) => `موافقة ${isolate(who)}`,
      },
      somebody: 'شخص ما',
      done: {
        sign: 'لقد وقّعت',
        approve: 'لقد وافقت',
      },
      waitsFor: (organization) =>
        `في انتظار أعضاء آخرين في ${isolate(organization)}. ` +
        'يحصل التطبيق على التوقيع بعد أن يوقّع الأعضاء المطلوبون ويوافقوا.',
      approveInstead: 'الموافقة بدلًا من ذلك',
      approveInsteadWhy: 'وقّع عضو آخر أيضًا، لكن تنقص موافقات. إذا وافقت، حلّت موافقتك محل توقيعك.',
      denyAfterAll: 'رفض الطلب',
    },
    closeThis: 'يمكنك إغلاق هذه النافذة.',
    saveReceipt: 'تنزيل الإيصال',
  },
}
