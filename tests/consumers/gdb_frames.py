"""In gdb: steps from the second call of `begin` to `called`, instruction by instruction. The frames must lead to main at each.
Prints how many do not, and whether gdb has stopped in a stub and in code near the module."""
import gdb  # pylint: disable=import-error

STEPS = 2000


def leads_to_main(frame):
    try:
        while frame is not None:
            if frame.name() == 'main':
                return True
            frame = frame.older()
    except gdb.error:
        pass
    return False


def main():
    for command in ('set pagination off', 'set debuginfod enabled off', 'set startup-with-shell off',
                    'set breakpoint pending on', 'break begin', 'ignore 1 1', 'run', 'delete'):
        gdb.execute(command, to_string=True)
    lost, stopped = 0, set()
    for _ in range(STEPS):
        gdb.execute('stepi', to_string=True)
        frame = gdb.newest_frame()
        name = frame.name() or 'code near the module'
        stopped.add(name)
        if not leads_to_main(frame):
            lost += 1
            print('lost at', hex(frame.pc()), name)
        if name == 'called':
            break
    gdb.execute('kill', to_string=True)
    print('%d lost;%s%s' % (lost, ' in a stub' if 'call_stub_common' in stopped else '',
                            ' in near code' if 'code near the module' in stopped else ''))


main()
