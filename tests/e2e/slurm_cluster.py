"""Slurm on this machine: munged, slurmctld and several slurmd on loopback, with a key, sockets and
folders of their own below a temporary folder. Nothing of the system's own Slurm is touched."""
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
WAIT_S = 60


def missing():
    """What keeps a cluster from being started here; None: nothing."""
    lacking = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if lacking:
        return f"no {', '.join(lacking)}: apt-get install slurmctld slurmd slurm-client munge"
    return "slurmd has to be started by root" if os.geteuid() else None


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Cluster:
    def __init__(self, nodes=4, cpus=1, memory_mb=2000):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="eqloom-slurm-"))
        self.dir.chmod(0o755)
        self.nodes = [f"n{i}" for i in range(nodes)]
        self.processes = {}
        self.env = os.environ | {"SLURM_CONF": str(self.dir / "slurm.conf"), "PATH": PATH,
                                 "TMPDIR": str(self.dir / "tmp")}
        ports = free_ports(nodes + 1)
        user, host = pwd.getpwuid(os.geteuid()).pw_name, socket.gethostname()
        for folder in ("state", "tmp", *(f"spool-{n}" for n in self.nodes)):
            (self.dir / folder).mkdir()
        (self.dir / "munge.key").write_bytes(os.urandom(128))
        (self.dir / "munge.key").chmod(0o600)
        d = self.dir
        lines = [
            "ClusterName=eqloom", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={ports[0]}",
            f"SlurmUser={user}", f"SlurmdUser={user}", "AuthType=auth/munge",
            f"AuthInfo=socket={d}/munge.socket", "CredType=cred/munge",
            f"StateSaveLocation={d}/state", f"SlurmdSpoolDir={d}/spool-%n",
            f"SlurmctldPidFile={d}/slurmctld.pid", f"SlurmdPidFile={d}/slurmd-%n.pid",
            f"SlurmctldLogFile={d}/slurmctld.log", f"SlurmdLogFile={d}/slurmd-%n.log",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
            "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU_Memory",
            "SwitchType=switch/none", "MpiDefault=none",
            "AccountingStorageType=accounting_storage/none",
            "JobAcctGatherType=jobacct_gather/none", "SchedulerType=sched/builtin",
            "SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0",
            "SlurmdTimeout=300", "ReturnToService=2", "KillWait=2", "MinJobAge=300",
            "MaxArraySize=100001",
        ]
        for name, port in zip(self.nodes, ports[1:]):
            lines.append(f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} "
                         f"CPUs={cpus} RealMemory={memory_mb} State=UNKNOWN")
        lines.append(f"PartitionName=main Nodes={','.join(self.nodes)} Default=YES "
                     "MaxTime=INFINITE State=UP")
        (d / "slurm.conf").write_text("\n".join(lines) + "\n")
        self.start("munged", "munged", "--foreground", "--force", f"--key-file={d}/munge.key",
                   f"--socket={d}/munge.socket", f"--pid-file={d}/munged.pid",
                   f"--log-file={d}/munged.log", f"--seed-file={d}/munged.seed", "--num-threads=2")
        self.wait(lambda: (d / "munge.socket").exists(), "munged does not start")
        self.start("slurmctld", "slurmctld", "-D", "-c")
        for name in self.nodes:
            self.start_node(name)
        self.wait(lambda: self.ask("sinfo", "-h", "-o", "%D", "-t", "idle").strip() == str(nodes),
                  "the nodes do not come up")

    def start(self, key, *argv):
        log = open(self.dir / f"{key}.out", "ab")
        self.processes[key] = subprocess.Popen(argv, env=self.env, stdout=log, stderr=log,
                                               stdin=subprocess.DEVNULL)
        log.close()

    def start_node(self, name):
        self.start(name, "slurmd", "-D", "-N", name)

    def kill_node(self, name):
        """slurmd alone: what runs under it goes on."""
        self.processes[name].kill()
        self.processes[name].wait()

    def kill_controller(self):
        """Until start_controller(), which reads what it has saved, nobody answers."""
        self.processes["slurmctld"].kill()
        self.processes["slurmctld"].wait()

    def start_controller(self):
        self.start("slurmctld", "slurmctld", "-D")

    def resume(self):
        """What an administrator does: a slurmctld that comes back without having saved that a job had
        begun starts it once more, and drains the node that has it already ("Duplicate jobid")."""
        self.ask("scontrol", "update", f"nodename={','.join(self.nodes)}", "state=resume")

    def ask(self, *argv):
        made = subprocess.run(argv, env=self.env, capture_output=True, text=True, check=False)
        return made.stdout

    def wait(self, what, said):
        end = time.monotonic() + WAIT_S
        while not what():
            if time.monotonic() > end:
                raise AssertionError(said + "\n" + self.logs())
            time.sleep(0.1)

    def logs(self):
        return "\n".join(f"== {p.name}\n" + p.read_text(errors="replace")[-2000:]
                         for p in sorted(self.dir.glob("*.log")) + sorted(self.dir.glob("*.out")))

    def workers(self):
        """Processes of jobs, by the name of the cluster's folder in their environment."""
        mark = f"SLURM_CONF={self.dir}/slurm.conf".encode()
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                env = (path / "environ").read_bytes().split(b"\0")
                if mark in env and any(e.startswith(b"SLURM_JOB_ID=") for e in env):
                    found.append(int(path.name))
            except OSError:
                continue
        return found

    def close(self):
        self.ask("scancel", "--user", str(os.geteuid()))
        for process in reversed(list(self.processes.values())):
            process.kill()
            process.wait()
        for pid in self.workers():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        # The stepds are children of nobody now; they hold their node's folder.
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                line = (path / "cmdline").read_bytes()
                ours = str(self.dir).encode() in (path / "environ").read_bytes()
                if line.startswith(b"slurmstepd") and ours:
                    os.kill(int(path.name), signal.SIGKILL)
            except OSError:
                continue
        shutil.rmtree(self.dir, ignore_errors=True)
